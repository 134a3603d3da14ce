"use strict";
(() => {
  const made = (name, text, kind) => {
    const one = document.createElement(name);
    one.textContent = text;
    if (kind) one.className = kind;
    return one;
  };
  const button = (text, act) => {
    const one = made("button", text);
    one.type = "button";
    one.addEventListener("click", () => act(one));
    return one;
  };
  const pieces = (leaf, walk) => {
    const found = [];
    for (let at = leaf; at; at = at.parentElement.closest(".branch")) found.unshift(at.querySelector(".piece").textContent);
    return [walk.querySelector(".piece").textContent, ...found].join("").replace(/↵\n/g, "\n").replaceAll("⇥", "\t");
  };
  const words = (text) => text.match(/\s+|[\p{L}\p{N}_']+|[^]/gu) || [];
  const alike = (a, b) => {
    const longest = a.map(() => new Uint16Array(b.length + 1)).concat([new Uint16Array(b.length + 1)]);
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
      }
    }
    const kept = [new Set(), new Set()];
    for (let i = 0, j = 0; i < a.length && j < b.length; ) {
      if (a[i] === b[j]) { kept[0].add(i++); kept[1].add(j++); }
      else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
      else j++;
    }
    return kept;
  };
  const side = (name, all, from, kept) => {
    const box = made("div", "", "side");
    const text = made("pre", from > 12 ? "… " + all.slice(from - 12, from).join("") : all.slice(0, from).join(""));
    text.dir = "auto";
    all.slice(from, from + 600).forEach((word, at) => text.append(kept.has(at) || !word.trim() ? word : made("mark", word)));
    if (all.length > from + 600) text.append(" … the rest is not compared …");
    box.append(made("p", name, "label"), text);
    return box;
  };
  const difference = (first, second) => {
    const [a, b] = [words(first.text), words(second.text)];
    let from = 0;
    while (from < a.length && a[from] === b[from]) from++;
    const kept = alike(a.slice(from, from + 600), b.slice(from, from + 600));
    const box = made("div", "", "sides");
    box.append(side(first.name, a, from, kept[0]), side(second.name, b, from, kept[1]));
    return box;
  };
  for (const walk of document.querySelectorAll(".walk")) {
    const told = made("div", "", "told");
    told.setAttribute("role", "status");
    let chosen = null;
    const bar = made("p", "", "bar-of-buttons");
    const each = (open) => () => walk.querySelectorAll("details").forEach((one) => { one.open = open; });
    const prompt = walk.closest("section").querySelector("h2 bdi").textContent;
    for (const [word, open] of [["open", true], ["close", false]]) {
      const all = button(word + " all", each(open));
      all.setAttribute("aria-label", word + " all branches of " + prompt);
      bar.append(all);
    }
    walk.querySelector("summary").after(bar);
    walk.append(told);
    for (const leaf of walk.querySelectorAll(".leaf")) {
      const inside = leaf.querySelector("details");
      const head = inside.querySelector("summary");
      const name = head.querySelector("b").textContent + " × " + (head.querySelector("code") || head.querySelector(".head")).textContent;
      const copy = button("copy this answer", async (one) => {
        try {
          await navigator.clipboard.writeText(pieces(leaf, walk));
          one.textContent = "copied as shown";
        } catch {
          const answer = made("pre", pieces(leaf, walk));
          told.replaceChildren(made("p", "This browser does not let a page copy; here is the answer, selected.", "note"), answer);
          getSelection().selectAllChildren(answer);
        }
      });
      const compare = button("compare", () => {
        const mine = { name, text: pieces(leaf, walk), leaf };
        if (!chosen || chosen.leaf === leaf) {
          chosen = mine;
          told.replaceChildren(made("p", name + " is one side; choose compare at another branch.", "note"));
        } else {
          told.replaceChildren(difference(chosen, mine));
          chosen = null;
        }
        told.scrollIntoView({ block: "nearest" });
      });
      copy.setAttribute("aria-label", "copy this answer: " + name + " of " + prompt);
      compare.setAttribute("aria-label", "compare " + name + " of " + prompt);
      const buttons = made("p", "", "bar-of-buttons");
      buttons.append(copy, compare);
      inside.append(buttons);
    }
  }
})();
