/* Enhances the API reference: search as you type, and requests with your own key. */
const $ = (selector, from = document) => from.querySelector(selector)
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)]

const contents = $('#operations')
const search = $('[type="search"]', contents)
const results = $('[data-results]', contents)

/* Search shows what its page has, in place of the contents */
let latest
async function find() {
  latest?.abort()
  latest = new AbortController()
  const isAsked = search.value.trim() !== ''
  contents.classList.toggle('searching', isAsked)
  if (!isAsked) return
  const { signal } = latest
  const answer = await fetch(`${search.form.action}?${new URLSearchParams({ q: search.value })}`, {
    signal,
  })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  $('[role="status"]', results).textContent = $('h1', page).textContent
  $('ul', results).replaceChildren(...$$('.found > li', page))
}
let finding
search.addEventListener('input', () => {
  finding = find()
  finding.catch(() => {})
})
search.form.addEventListener('submit', (event) => {
  if (!finding) return
  event.preventDefault()
  finding.then(() => $('a', results)?.click()).catch(() => search.form.submit())
})
contents.addEventListener('keydown', (event) => {
  const links = $$('a', results)
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step && contents.matches('.searching')) {
    event.preventDefault()
    const next = links.indexOf(document.activeElement) + step
    ;(links[next] ?? (next < 0 ? search : links.at(-1)))?.focus()
  }
  if (event.key === 'Escape' && search.value !== '') {
    event.preventDefault()
    search.value = ''
    search.focus()
    find()
  }
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches?.('input, textarea, select')
  const isAsked = (event.key === 'k' && (event.metaKey || event.ctrlKey)) || event.key === '/'
  if (!isAsked || (isTyping && event.key === '/')) return
  event.preventDefault()
  contents.showPopover()
  search.select()
})
contents.addEventListener('click', ({ target }) => {
  if (target.closest('a')) contents.hidePopover()
})

/* Marks the operation at the top of the screen in the contents */
const links = new Map($$('li a[href*="#"]', contents).map((link) => [link.hash.slice(1), link]))
const articles = $$('main article')
const atTop = new Set()
const watch = new IntersectionObserver(
  (changes) => {
    for (const { target, isIntersecting } of changes)
      isIntersecting ? atTop.add(target) : atTop.delete(target)
    const link = links.get(articles.find((article) => atTop.has(article))?.id)
    if (!link) return
    $('[aria-current="location"]', contents)?.removeAttribute('aria-current')
    link.setAttribute('aria-current', 'location')
    link.scrollIntoView({ block: 'nearest' })
  },
  { rootMargin: '-120px 0px -70% 0px' },
)
for (const article of articles) watch.observe(article)

/* Addresses of operations on the first page lead to the page of their engine. */
function follow() {
  const entry = document.getElementById(location.hash.slice(1))
  if (entry?.matches('.contents li')) location.replace($('a', entry).href)
}
addEventListener('hashchange', follow)
follow()

/* The key is kept nowhere but in its field. The console offers a new one. */
const key = $('[data-key]')
const keys = new BroadcastChannel('gatehouse:key')
keys.addEventListener('message', ({ data }) => {
  if (key.value === '') key.value = data
})
keys.postMessage('')
addEventListener('pagehide', () => {
  for (const secret of $$('[type="password"]')) secret.value = ''
})

/* Trying requests */
document.addEventListener('submit', async (event) => {
  const form = event.target.closest('[data-try]')
  if (!form) return
  event.preventDefault()
  const answer = $('[data-answer]', form)
  if (key.value.trim() === '' && form.dataset.keyless === undefined) {
    answer.textContent = 'Enter an API key at the top of the page.'
    key.focus()
    return
  }
  const button = $('button', form)
  button.disabled = true
  answer.textContent = 'Sending…'
  const start = performance.now()
  try {
    const response = await fetch(addressOf(form), requestOf(form))
    const text = await response.text()
    show(answer, response, text, Math.round(performance.now() - start))
  } catch (error) {
    answer.textContent = `No response: ${error.message}`
  }
  button.disabled = false
})

const given = (form, place) => $$(`[data-in="${place}"]`, form).filter(({ value }) => value !== '')

function addressOf(form) {
  let path = form.dataset.try
  for (const { name, value } of given(form, 'path'))
    path = path.replace(`{${name}}`, encodeURIComponent(value))
  const query = new URLSearchParams(given(form, 'query').map(({ name, value }) => [name, value]))
  const base = new URL(search.form.action).pathname.replace(/\/reference$/, '')
  return `${base}${path}${query.size > 0 ? `?${query}` : ''}`
}

/* To this server alone: the policy of the page refuses others, and redirects aren't followed. */
function requestOf(form) {
  const headers = new Headers(given(form, 'header').map(({ name, value }) => [name, value]))
  if (key.value.trim() !== '') headers.set('authorization', `Bearer ${key.value.trim()}`)
  const body = $('[data-body]', form)?.value || undefined
  if (body !== undefined) headers.set('content-type', 'application/json')
  return { method: form.dataset.method, headers, body, credentials: 'omit', redirect: 'manual' }
}

const TELLING = ['x-request-id', 'ratelimit', 'ratelimit-policy', 'retry-after', 'etag', 'allow']

function show(answer, response, text, duration) {
  const line = document.createElement('p')
  const status = document.createElement('code')
  status.className = response.ok ? 'good' : 'bad'
  status.textContent = response.status || 'Redirect'
  line.append(status, ` ${response.statusText} in ${duration} ms`)
  const told = TELLING.filter((name) => response.headers.has(name))
  answer.replaceChildren(
    line,
    blockOf(
      told.map((name) => `${name}: ${response.headers.get(name)}`).join('\n'),
      'Response headers',
    ),
    blockOf(indented(text), 'Response body'),
  )
}

function blockOf(text, label) {
  const block = document.createElement('pre')
  block.tabIndex = 0
  block.ariaLabel = label
  block.role = 'group'
  block.textContent = text
  return text === '' ? '' : block
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/* The language of examples is the same on all pages. Last, because browsers may refuse to store it. */
const LANGUAGE = 'gatehouse:language'
const languageOf = (name) => $(`[name="language"][value="${CSS.escape(name ?? '')}"]`)
const chosen = languageOf(localStorage.getItem(LANGUAGE))
if (chosen) chosen.checked = true
$('.languages').addEventListener('change', ({ target }) => {
  localStorage.setItem(LANGUAGE, target.value)
})
