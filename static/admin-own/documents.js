// An agent's documents: files dropped or chosen go up one by one, and the list is kept right.

const EVERY_MS = 1500;
const AT_ONCE = 2;

const page = document.querySelector("[data-documents]");
const list = page.querySelector("[data-list]");
const form = page.querySelector("[data-form]");
let timer = 0;

if (form) takeFiles(form);
watch();

/** Look at the list again while something in it moves. */
function watch() {
  clearTimeout(timer);
  if (list.querySelector("[data-moving]")) timer = setTimeout(look, EVERY_MS);
}

async function look() {
  if (!document.hidden && !list.contains(document.activeElement)) {
    try {
      const answer = await fetch(page.dataset.live, { cache: "no-store", redirect: "manual" });
      if (answer.status === 200) list.innerHTML = await answer.text();
    } catch {
      // The next look will tell.
    }
  }
  watch();
}

function takeFiles(form) {
  const input = form.querySelector("input[type=file]");
  const drop = form.querySelector("[data-drop]");
  const going = form.querySelector("[data-going]");
  const waiting = [];
  let running = 0;

  const take = (files) => {
    for (const file of files) waiting.push([file, row(file)]);
    next();
  };

  const row = (file) => {
    const item = document.createElement("li");
    const name = Object.assign(document.createElement("span"), { textContent: file.name });
    const bar = Object.assign(document.createElement("progress"), { max: 100, value: 0 });
    bar.setAttribute("aria-label", file.name);
    item.append(name, bar);
    going.append(item);
    return { item, bar };
  };

  const next = () => {
    while (running < AT_ONCE && waiting.length) {
      running += 1;
      const [file, shown] = waiting.shift();
      send(file, shown).finally(() => {
        running -= 1;
        look();
        next();
      });
    }
  };

  const send = (file, { item, bar }) =>
    new Promise((done) => {
      const fail = (words) => {
        const said = document.createElement("span");
        said.className = "qd-error";
        said.textContent = words;
        bar.replaceWith(said);
        done();
      };
      if (file.size > Number(page.dataset.most) * 2 ** 20) {
        fail(page.dataset.tooLarge);
        return;
      }
      const body = new FormData();
      body.append("whose", form.elements.whose.value);
      body.append("files", file);
      const request = new XMLHttpRequest();
      request.open("POST", location.pathname);
      request.setRequestHeader("Accept", "application/json");
      request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
      request.responseType = "json";
      request.upload.onprogress = (event) => {
        if (event.lengthComputable) bar.value = (100 * event.loaded) / event.total;
      };
      request.onload = () => {
        const refused = request.response?.refused ?? [];
        if (request.status === 200) {
          item.remove();
          done();
        } else if (refused.length) {
          // The sentence says the name.
          item.firstChild.remove();
          fail(refused[0]);
        } else fail(page.dataset.failed);
      };
      request.onerror = () => fail(page.dataset.failed);
      request.send(body);
    });

  input.addEventListener("change", () => {
    take([...input.files]);
    input.value = "";
  });
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.dataset.over = "";
    });
  }
  for (const name of ["dragleave", "drop"]) {
    drop.addEventListener(name, () => delete drop.dataset.over);
  }
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });
}
