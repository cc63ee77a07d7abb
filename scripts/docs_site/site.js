// Search over the sections of all pages, and the choice of dark or light. Works without a server.
"use strict";

const field = document.getElementById("search");
const found = document.getElementById("found");
const root = document.body.dataset.root;
const MOST = 12;
let chosen = -1;

const sections = () =>
    window.SECTIONS.map(([page, heading, address, text]) => ({
        page, heading, address, text,
        inPage: page.toLowerCase(), inHeading: heading.toLowerCase(), inText: text.toLowerCase(),
    }));
let known = null;

function score(section, words) {
    let sum = 0;
    for (const word of words) {
        const inHeading = section.inHeading.includes(word);
        const inPage = section.inPage.includes(word);
        const times = section.inText.split(word).length - 1;
        if (!inHeading && !inPage && !times) return 0; // every word must be somewhere
        sum += (inHeading ? 20 : 0) + (section.inHeading === word ? 20 : 0) + (inPage ? 8 : 0) + Math.min(times, 5);
    }
    return sum;
}

function find(query) {
    known ??= sections();
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return null;
    return known
        .map((section) => ({ section, points: score(section, words), words }))
        .filter((hit) => hit.points)
        .sort((a, b) => b.points - a.points)
        .slice(0, MOST);
}

function marked(text, words) {
    const first = Math.max(0, Math.min(...words.map((w) => text.toLowerCase().indexOf(w)).filter((i) => i >= 0)) - 40);
    const piece = text.slice(Number.isFinite(first) ? first : 0).slice(0, 160);
    const line = document.createElement("small");
    const pattern = new RegExp(`(${words.map((w) => w.replace(/[^\p{L}\p{N}]/gu, "\\$&")).join("|")})`, "giu");
    piece.split(pattern).forEach((part, index) => {
        const node = document.createElement(index % 2 ? "mark" : "span");
        node.textContent = part; // never as HTML: pages may hold anything
        line.append(node);
    });
    return line;
}

function show() {
    const hits = find(field.value);
    found.hidden = hits === null;
    found.replaceChildren();
    chosen = -1;
    if (hits === null) return;
    if (!hits.length) found.append(Object.assign(document.createElement("p"), { textContent: "nothing found" }));
    for (const { section, words } of hits) {
        const link = Object.assign(document.createElement("a"), { href: root + section.address });
        link.append(section.heading && section.heading !== section.page ? `${section.page} › ${section.heading}` : section.page);
        link.append(marked(section.text, words));
        link.addEventListener("click", () => { found.hidden = true; });
        found.append(link);
    }
}

function move(step) {
    const links = [...found.querySelectorAll("a")];
    if (!links.length) return;
    chosen = (chosen + step + links.length) % links.length;
    links.forEach((link, index) => link.classList.toggle("chosen", index === chosen));
    links[chosen].scrollIntoView({ block: "nearest" });
}

field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { move(event.key === "ArrowDown" ? 1 : -1); event.preventDefault(); }
    if (event.key === "Enter") (found.querySelectorAll("a")[Math.max(chosen, 0)] || field).click();
    if (event.key === "Escape") { field.value = ""; show(); field.blur(); }
});
document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) { field.focus(); event.preventDefault(); }
});
document.addEventListener("click", (event) => {
    if (!found.contains(event.target) && event.target !== field) found.hidden = true;
});
document.getElementById("theme").addEventListener("click", () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    const theme = isDark ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
});
