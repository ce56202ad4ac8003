/* Enhances the API reference: search as you type, and requests with your own key. */
const $ = (selector, from = document) => from.querySelector(selector)
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)]

const contents = $('#operations')
const search = $('[type="search"]', contents)

/* Search, in the titles and addresses of all operations */
const openAtFirst = new Set($$('details[open]', contents))
function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  let found = 0
  for (const entry of $$('[data-entry]', contents)) {
    const text = `${entry.dataset.entry} ${entry.textContent}`.toLowerCase()
    entry.hidden = !words.every((word) => text.includes(word))
    if (!entry.hidden) found++
  }
  const isSearching = words.length > 0
  contents.classList.toggle('searching', isSearching)
  for (const chapter of $$('details', contents)) {
    const hasSome = $('[data-entry]:not([hidden])', chapter) !== null
    chapter.hidden = !hasSome
    chapter.open = isSearching ? hasSome : openAtFirst.has(chapter)
  }
  $('[data-none]', contents).hidden = found > 0
}
search.addEventListener('input', find)
search.form.addEventListener('submit', (event) => {
  const first = $('[data-entry]:not([hidden]) a', contents)
  if (!first || search.value.trim() === '') return
  event.preventDefault()
  first.click()
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches?.('input, textarea')
  const isAsked = (event.key === 'k' && (event.metaKey || event.ctrlKey)) || event.key === '/'
  if (!isAsked || (isTyping && event.key === '/')) return
  event.preventDefault()
  contents.showPopover()
  search.select()
})
contents.addEventListener('click', ({ target }) => {
  if (target.closest('a')) contents.hidePopover()
})

/* Addresses of operations on the first page lead to the page of their engine. */
function follow() {
  const entry = document.getElementById(location.hash.slice(1))
  if (entry?.matches('[data-entry]')) location.replace($('a', entry).href)
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
  key.value = ''
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

function addressOf(form) {
  const query = new URLSearchParams()
  let path = form.dataset.try
  for (const { name, value, dataset } of $$('[data-in]', form)) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '') query.set(name, value)
  }
  const base = new URL(search.form.action).pathname.replace(/\/reference$/, '')
  return `${base}${path}${query.size > 0 ? `?${query}` : ''}`
}

function requestOf(form) {
  const headers = new Headers()
  if (key.value.trim() !== '') headers.set('authorization', `Bearer ${key.value.trim()}`)
  const body = $('[data-body]', form)?.value
  if (body !== undefined) headers.set('content-type', 'application/json')
  return { method: form.dataset.method, headers, body, credentials: 'omit' }
}

function show(answer, response, text, duration) {
  const line = document.createElement('p')
  const status = document.createElement('code')
  status.className = response.ok ? 'good' : 'bad'
  status.textContent = response.status
  line.append(status, ` in ${duration} ms · ${response.headers.get('x-request-id') ?? ''}`)
  const block = document.createElement('pre')
  block.tabIndex = 0
  block.textContent = indented(text)
  answer.replaceChildren(line, ...(text === '' ? [] : [block]))
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
