// The page for connecting a model: choose, test, save, without leaving the page. Whatever is shown
// of a provider's words or a model's name goes in as text, never as HTML.

const page = document.querySelector("[data-connect]");
const source = document.getElementById("connect-data");
if (page && source) connect(page, JSON.parse(source.textContent));

function connect(root, data) {
  const { texts, addresses } = data;
  const SHOWN = 60;
  const find = (selector) => root.querySelector(selector);
  const form = find("[data-form]");
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  const show = (element, isShown) => {
    if (element) element.hidden = !isShown;
  };
  let choice = null; // the chosen card's radio
  let models = [];
  let typed = ""; // a model's name that is in no list
  let tickets = new Map(); // model → proof of its test
  let running = null;

  // --- asking the server -----------------------------------------------------------------

  const values = (extra) => {
    const body = new FormData();
    body.set("agent", data.agent);
    const { account, preset } = choice.dataset;
    if (account) body.set("account", account);
    else {
      body.set("preset", preset);
      for (const name of ["base_url", "key", "key_reference"]) {
        const field = form.elements[name];
        if (field && isOffered(name)) body.set(name, field.value);
      }
    }
    for (const [name, value] of Object.entries(extra)) body.set(name, value);
    return body;
  };
  const isOffered = (name) => {
    if (name === "base_url") return "asksAddress" in choice.dataset;
    return true;
  };

  async function ask(address, body, text) {
    running?.abort();
    const mine = (running = new AbortController());
    clearTrouble();
    const began = Date.now();
    const tick = setInterval(() => {
      find("[data-elapsed]").textContent = fill(texts.seconds, {
        n: Math.round((Date.now() - began) / 1000),
      });
    }, 1000);
    find("[data-elapsed]").textContent = "";
    find("[data-progress-text]").textContent = text;
    show(find("[data-progress]"), true);
    find("[data-progress]").scrollIntoView({ block: "nearest" });
    busy(true);
    try {
      const answer = await fetch(address, {
        method: "POST",
        body,
        headers: { "X-CSRFToken": find("[name=csrfmiddlewaretoken]").value },
        signal: mine.signal,
      });
      if (answer.redirected) {
        // To the login.
        trouble({ title: texts.out, advice: "" });
        return null;
      }
      if (!answer.ok) throw new Error(String(answer.status));
      const told = await answer.json();
      if (!told.ok) trouble(told);
      return told;
    } catch (error) {
      if (running === mine) {
        const isStopped = error.name === "AbortError";
        trouble({ title: isStopped ? texts.stopped : texts.failed, advice: "" });
      }
      return null;
    } finally {
      clearInterval(tick);
      if (running === mine) {
        running = null;
        show(find("[data-progress]"), false);
        busy(false);
      }
    }
  }

  function busy(isBusy) {
    for (const button of root.querySelectorAll(".q-button:not([data-cancel])")) {
      button.disabled = isBusy;
    }
  }

  function clearTrouble() {
    show(find("[data-result]"), false);
    for (const place of root.querySelectorAll("[data-error]")) place.textContent = "";
    for (const field of root.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
    }
  }

  function trouble(told) {
    if (told.errors) {
      let first = null;
      for (const [name, text] of Object.entries(told.errors)) {
        const place = find(`[data-error="${name}"]`);
        const field = form.elements[name];
        if (place) place.textContent = text;
        if (field?.setAttribute) {
          field.setAttribute("aria-invalid", "true");
          field.closest("details")?.setAttribute("open", "");
          first ??= field;
        }
      }
      first?.focus();
      return;
    }
    find("[data-result-title]").textContent = told.title;
    find("[data-result-advice]").textContent = told.advice;
    const said = find("[data-result-said]");
    said.textContent = told.said ? fill(texts.said, { said: told.said }) : "";
    show(said, Boolean(told.said));
    show(find("[data-result]"), true);
    find("[data-result]").scrollIntoView({ block: "nearest" });
  }

  // --- 1: the provider -------------------------------------------------------------------

  function choose(radio) {
    running?.abort();
    running = null;
    choice = radio;
    forget();
    clearTrouble();
    show(find("[data-progress]"), false);
    busy(false);
    const card = radio.dataset;
    const isAccount = "account" in card;
    const step = find('[data-step="account"]');
    step.querySelector("[data-title]").textContent = card.title;
    show(step, true);
    show(find('[data-step="done"]'), false);
    show(find('[data-field="base_url"]'), "asksAddress" in card);
    show(find('[data-field="key"]'), !isAccount);
    show(find('[data-field="key_reference"]'), !isAccount);
    show(find('[data-address-help="local"]'), card.preset === "local");
    show(find("[data-local-only]"), "isLocal" in card);
    show(find("[data-key-optional]"), !("wantsKey" in card));
    const link = find("[data-key-link]");
    show(link, Boolean(card.keyPage));
    if (card.keyPage) {
      link.querySelector("a").href = card.keyPage;
      link.querySelector("a").textContent = card.keyHost;
    }
    form.elements.base_url.value = card.address ?? "";
    form.elements.base_url.placeholder = card.address || "https://example.org/v1";
    form.elements.key.value = "";
    if (form.elements.key_reference) form.elements.key_reference.value = "";
    const isOllama = card.preset === "ollama" && data.looks_for_ollama;
    show(find("[data-ollama]"), isOllama);
    showFields(!isOllama);
  }

  function showFields(isShown) {
    show(find("[data-fields]"), isShown);
    find("[data-elsewhere]").setAttribute("aria-expanded", String(isShown));
  }

  function forget() {
    models = [];
    typed = "";
    tickets = new Map();
    show(find('[data-step="model"]'), false);
    show(find("[data-answered]"), false);
    find("[data-search]").value = "";
  }

  // --- Ollama on this machine ------------------------------------------------------------

  const ollama = root.querySelector('[data-preset="ollama"]');

  async function look() {
    const status = find("[data-ollama-status]");
    status.textContent = texts.looking;
    show(find("[data-ollama-missing]"), false);
    find("[data-ollama-models]").replaceChildren();
    const body = new FormData();
    body.set("agent", data.agent);
    let told = null;
    try {
      const answer = await fetch(addresses.ollama, {
        method: "POST",
        body,
        headers: { "X-CSRFToken": find("[name=csrfmiddlewaretoken]").value },
      });
      told = answer.ok ? await answer.json() : null;
    } catch {
      // As if nobody answered: the button to look again is there.
    }
    const found = told?.is_there ? told.models : null;
    const badge = ollama.closest(".q-card").querySelector("[data-badge]");
    badge.textContent = texts.badge;
    show(badge, Boolean(found));
    show(find("[data-ollama-missing]"), !found?.length);
    if (!found) status.textContent = texts.not_found;
    else if (!found.length) status.textContent = texts.found_none;
    else if (found.length === 1) status.textContent = texts.found_one;
    else status.textContent = fill(texts.found, { n: found.length });
    find("[data-ollama-models]").replaceChildren(...(found ?? []).map(ollamaRow));
  }

  function ollamaRow(model) {
    const row = rowOf("[data-ollama-row]", model);
    const button = row.querySelector("button");
    button.textContent = texts.use;
    button.setAttribute("aria-label", fill(texts.use_named, { model: model.name }));
    button.addEventListener("click", async () => {
      form.elements.base_url.value = ollama.dataset.address;
      form.elements.key.value = "";
      await save(model.name, {}, texts.testing_local);
    });
    return row;
  }

  // --- 2 and 3: test, model --------------------------------------------------------------

  async function test(model) {
    const isLocal = "isLocal" in choice.dataset;
    const body = values({ model });
    const told = await ask(addresses.test, body, isLocal ? texts.testing_local : texts.testing);
    if (!told) return;
    if (told.models) {
      models = told.models;
      if (told.chosen && !models.some((known) => known.name === told.chosen)) typed = told.chosen;
      show(find('[data-step="model"]'), true);
      list(told.chosen);
    }
    const answered = find("[data-answered]");
    show(answered, told.ok);
    show(find("[data-save-untested]"), !told.ok && Boolean(told.models));
    if (!told.ok) return;
    tickets.set(told.model.name, told.ticket);
    keep(told.model);
    list(told.model.name);
    answered.textContent = fill(texts.answered, { model: told.model.name, n: told.seconds });
    mark();
    find("[data-save]").focus();
  }

  function keep(model) {
    // A test can find out more than the list said: an Ollama's real window.
    const at = models.findIndex((known) => known.name === model.name);
    if (at < 0) models.unshift(model);
    else models[at] = model;
  }

  function rowOf(template, model) {
    const row = find(template).content.firstElementChild.cloneNode(true);
    row.querySelector(".q-model-name").textContent = model.name;
    row.querySelector(".q-model-facts").textContent = [model.window, model.price]
      .filter(Boolean)
      .join(" · ");
    const warning = row.querySelector(".q-model-warning");
    warning.textContent = model.warning ?? "";
    show(warning, Boolean(model.warning));
    return row;
  }

  const chosen = () => form.querySelector("[name=model]:checked")?.value ?? "";

  function list(name = chosen()) {
    const asked = find("[data-search]").value.trim().toLowerCase();
    const fits = models.filter((model) => model.name.toLowerCase().includes(asked));
    const picked = fits.find((model) => model.name === name);
    const shown = fits.slice(0, SHOWN);
    if (picked && !shown.includes(picked)) shown.unshift(picked);
    const own = asked ? find("[data-search]").value.trim() : typed;
    if (own && !models.some((model) => model.name === own)) {
      shown.push({ name: own, window: texts.untested });
    }
    const rows = shown.map((model) => {
      const row = rowOf("[data-model-row]", model);
      const radio = row.querySelector("input");
      radio.value = model.name;
      radio.checked = model.name === name;
      return row;
    });
    find("[data-models]").replaceChildren(...rows);
    const more = find("[data-more]");
    const left = fits.length - SHOWN;
    more.textContent = left > 0 ? fill(texts.more, { n: left }) : "";
    show(more, left > 0);
    find("[data-models] :checked")?.scrollIntoView({ block: "nearest" });
    mark();
  }

  function mark() {
    const name = chosen();
    show(find("[data-test-model]"), Boolean(name) && !tickets.has(name));
    find("[data-save]").disabled = !name;
  }

  async function save(model, extra, text) {
    const first = form.querySelector("[name=is_first]:checked")?.value ?? "";
    const ticket = tickets.get(model) ?? "";
    const told = await ask(
      addresses.save,
      values({ model, ticket, is_first: first, ...extra }),
      text ?? (ticket ? texts.saving : texts.testing),
    );
    if (!told) return;
    show(find("[data-save-untested]"), !told.ok && !told.errors);
    if (told.ok) done(told);
  }

  function done(told) {
    const step = find('[data-step="done"]');
    form.elements.key.value = "";
    find("[data-done-title]").textContent = fill(texts.done, {
      model: told.model.name,
      agent: data.agent_name,
    });
    const warning = find("[data-done-warning]");
    warning.textContent = told.model.warning;
    show(warning, Boolean(told.model.warning));
    show(form, false);
    show(step, true);
    step.focus();
    step.scrollIntoView({ block: "nearest" });
  }

  // --- what people do --------------------------------------------------------------------

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    test(chosen());
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "choice") choose(event.target);
    if (event.target.name === "model") mark();
  });
  form.addEventListener("input", (event) => {
    // Another key or address: what was tested is something else.
    if (["key", "base_url", "key_reference"].includes(event.target.name)) forget();
  });
  find("[data-search]").addEventListener("input", () => list());
  find("[data-search]").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const first = form.querySelector("[name=model]");
    if (first && !chosen()) first.checked = true;
    mark();
  });
  find("[data-test-model]").addEventListener("click", () => test(chosen()));
  find("[data-save]").addEventListener("click", () => save(chosen(), {}));
  find("[data-save-untested]").addEventListener("click", () =>
    save(chosen(), { is_untested: "on" }, texts.saving),
  );
  find("[data-cancel]").addEventListener("click", () => running?.abort());
  find("[data-elsewhere]").addEventListener("click", () => {
    const isShown = find("[data-fields]").hidden;
    showFields(isShown);
    if (isShown) form.elements.base_url.focus();
  });
  find("[data-look]").addEventListener("click", look);
  find("[data-again]").addEventListener("click", () => location.reload());
  const before = form.querySelector("[name=choice]:checked"); // a reload that kept the choice
  if (before) choose(before);
  if (data.looks_for_ollama) look();
}
