/* Enhances the console. Every page works without scripts. */
const $ = (selector, from = document) => from.querySelector(selector)
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)]

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** Delegated listener, which also covers elements that are swapped in later. */
const on = (type, selector, handle) =>
  document.addEventListener(type, (event) => {
    const element = event.target instanceof Element && event.target.closest(selector)
    if (element) handle(event, element)
  })

/*
 * Copying. On plain http there is no clipboard API: a selected field is copied instead, and if the
 * browser refuses that as well, the field is shown.
 */
on('click', '[data-copy]', async (_event, button) => {
  const code = $('code', button.closest('.codeblock') ?? undefined)
  const text = button.dataset.copy || code?.textContent || ''
  if (!(await copied(text, button))) return offer(text, button)
  button.classList.add('done')
  say('Copied')
  setTimeout(() => button.classList.remove('done'), 1600)
})
async function copied(text, button) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = fieldWith(text)
    // Outside of an open dialog, nothing can be selected.
    const place = button.closest('dialog') ?? document.body
    place.append(field)
    field.select()
    const isCopied = document.execCommand('copy')
    field.remove()
    button.focus()
    return isCopied
  }
}
function fieldWith(text) {
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.ariaLabel = 'Text to copy'
  return field
}

/** Shows a text to copy with the keyboard, selected. */
function offer(text, button) {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', 'copying')
  dialog.innerHTML = `<div class="question"><h3 id="copying">Press ${isApple ? '⌘C' : 'Ctrl+C'} to copy</h3>
    <p>The browser didn't let this page copy the text.</p><div class="field"></div>
    <div class="actions"><button type="button" class="button" data-close>Close</button></div></div>`
  const field = fieldWith(text)
  field.rows = 4
  field.className = 'mono'
  field.autofocus = true
  $('.field', dialog).append(field)
  field.addEventListener('copy', () => setTimeout(() => dialog.close()))
  dialog.addEventListener('close', () => {
    dialog.remove()
    button.focus()
  })
  document.body.append(dialog)
  dialog.showModal()
  field.select()
}

/** Announces text to screen readers. */
function say(text) {
  const line = document.createElement('p')
  line.className = 'unseen'
  line.textContent = text
  $('#toasts')?.append(line)
  setTimeout(() => line.remove(), 4000)
}

/* Toasts disappear after 6 s, except for errors and while they are hovered or focused. */
on('click', '[data-dismiss]', (_event, button) => button.closest('.toast').remove())
function fade(toast) {
  if (toast.dataset.toast === 'bad') return
  setTimeout(() => (toast.matches(':hover, :focus-within') ? fade(toast) : toast.remove()), 6000)
}

/* Menus close on Escape and on clicks outside. */
document.addEventListener('click', ({ target }) => {
  for (const menu of $$('.menu[open]')) if (!menu.contains(target)) menu.open = false
})
document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return
  for (const menu of $$('.menu[open]')) {
    menu.open = false
    $('summary', menu).focus()
  }
})

/* Confirmations open in a dialog. */
on('click', '.confirm > summary', (event, summary) => {
  event.preventDefault()
  const question = summary.nextElementSibling
  if (!question) return
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', $('h3', question).id)
  dialog.append(question)
  document.body.append(dialog)
  dialog.addEventListener('close', () => {
    summary.after(question)
    dialog.remove()
    summary.focus()
  })
  dialog.showModal()
})
on('click', '[data-close]', (_event, button) => button.closest('dialog')?.close())
on('click', 'dialog', (event, dialog) => {
  if (event.target === dialog) dialog.close()
})

/* Selecting rows. A list that updates itself keeps the selection. */
const boxes = () => $$('.select input[name]')
let selected = new Set()
function countSelected() {
  const all = boxes()
  const checked = all.filter((box) => box.checked)
  selected = new Set(checked.map((box) => box.value))
  const count = $('[data-selected-count]')
  if (count) count.textContent = `${checked.length} selected`
  const every = $('[data-select-all]')
  if (!every) return
  every.checked = checked.length > 0 && checked.length === all.length
  every.indeterminate = checked.length > 0 && checked.length < all.length
}
on('change', '.select input', (_event, box) => {
  if ('selectAll' in box.dataset) for (const one of boxes()) one.checked = box.checked
  countSelected()
})
document.addEventListener('htmx:after:swap', () => {
  for (const box of boxes()) box.checked ||= selected.has(box.value)
  countSelected()
})

/* Enter keeps the indentation in code fields. execCommand keeps the undo history. */
on('keydown', 'textarea[data-code]', (event, field) => {
  if (event.key !== 'Enter' || event.isComposing || event.ctrlKey || event.metaKey) return
  const line = field.value.slice(0, field.selectionStart).split('\n').at(-1)
  const [indent] = /^[ \t]*/.exec(line)
  if (indent === '') return
  event.preventDefault()
  document.execCommand('insertText', false, `\n${indent}`)
})

/* Leaving a page with an unsaved secret asks for confirmation. */
let isLeaving = false
on('submit', 'form', (event) => {
  if (!event.defaultPrevented) isLeaving = true
})
const unsaved = () => $$('[data-guarded]').find((panel) => !$('[data-saved]', panel).checked)
addEventListener('beforeunload', (event) => {
  if (unsaved() && !isLeaving) event.preventDefault()
})
let wayOut
on('click', 'a[href]:not([data-palette], [target], [href^="#"])', (event, link) => {
  const panel = unsaved()
  if (!panel || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  wayOut = link.href
  $('#palette')?.close()
  $('[data-leaving]', panel).showModal()
})
on('click', '[data-leave]', () => {
  isLeaving = true
  location.assign(wayOut)
})

/* The API reference asks for a new API key while its page is open. */
const keys = new BroadcastChannel('gatehouse:key')
keys.addEventListener('message', ({ data }) => {
  const link = $('[data-offers-key]')
  if (link && data === '') keys.postMessage(link.dataset.offersKey)
})

/* Passwords can be shown. They are hidden again when sent, so that browsers keep them as passwords. */
function reveal(button, isShown) {
  $('input', button.parentElement).type = isShown ? 'text' : 'password'
  button.setAttribute('aria-pressed', isShown)
}
on('click', '[data-reveal]', (_event, button) => {
  reveal(button, button.getAttribute('aria-pressed') === 'false')
  $('input', button.parentElement).focus()
})
on('submit', 'form', (_event, form) => {
  for (const button of $$('[data-reveal]', form)) reveal(button, false)
})

/* A color picker fills the field beside it, and follows it. */
on('input', '[data-picks]', (_event, picker) => {
  const field = document.getElementById(picker.dataset.picks)
  field.value = picker.value
  field.dispatchEvent(new Event('input', { bubbles: true }))
})
on('input', '.swatch + input', (_event, { value, previousElementSibling: picker }) => {
  if (/^#[0-9a-f]{6}$/i.test(value)) picker.value = value
})

/* Filters apply when they change. */
on('change', 'form[data-submits] select', (_event, select) => select.form.requestSubmit())

/* The theme changes immediately; the server stores it. */
on('submit', 'form.theme', (event, form) => {
  const theme = event.submitter?.value
  if (!theme) return
  event.preventDefault()
  isLeaving = false
  document.documentElement.dataset.theme = theme
  const body = new URLSearchParams(new FormData(form))
  body.set('theme', theme)
  fetch(form.action, { method: 'POST', body, redirect: 'manual' })
  $$('button', form)
    .find((button) => getComputedStyle(button).display !== 'none')
    ?.focus()
})

/* The palette */
const palette = () => $('#palette')
function openPalette() {
  if (!palette() || palette().open) return
  listButtons()
  palette().showModal()
  $('input', palette()).select()
  markNext()
}
/** Lists the buttons of the page, so that the palette can press them. */
function listButtons() {
  const buttons = $$('main :is(a.button, button.button, .confirm > summary)').filter(
    (button) => button.offsetParent !== null && !button.closest('.rows, .filterbar, .question'),
  )
  const list = $('[data-palette-buttons]')
  const template = $('template', list)
  const rows = buttons.map((button) => {
    const row = template.content.firstElementChild.cloneNode(true)
    $('span', row).textContent = button.textContent.trim().replaceAll(/\s+/g, ' ')
    $('button', row).addEventListener('click', () => {
      palette().close()
      button.click()
    })
    return row
  })
  list.replaceChildren(template, ...rows)
}
on('click', '[data-palette]', (event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  openPalette()
})
document.addEventListener('keydown', (event) => {
  const { key, target } = event
  const isTyping = target instanceof Element && target.matches('input, textarea, select')
  if (key === '?' && !isTyping && !$('dialog[open]')) $('#shortcuts')?.showModal()
  const isAsked = (key === 'k' && (event.metaKey || event.ctrlKey)) || (key === '/' && !isTyping)
  if (!isAsked) return
  event.preventDefault()
  openPalette()
})
on('input', '#palette-query', (_event, input) => {
  const asked = input.value.trim().toLowerCase()
  for (const row of $$('[data-palette-list] > li')) {
    row.hidden = !row.textContent.toLowerCase().includes(asked)
  }
  if (asked === '') $('#palette-found').replaceChildren()
  markNext()
})
const choices = () => $$('.palettelist .item').filter((item) => item.offsetParent !== null)
/** Marks the item that Enter opens. */
function markNext() {
  const [next] = choices()
  for (const link of $$('.palettelist .item')) link.classList.toggle('next', link === next)
}
document.addEventListener('htmx:after:swap', markNext)
on('keydown', '#palette', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const stops = [$('#palette-query'), ...choices()]
  const at = stops.indexOf(document.activeElement)
  stops[(at + step + stops.length) % stops.length].focus()
})
on('submit', '#palette > form', (event) => {
  const first = choices()[0]
  if (!first) return
  event.preventDefault()
  first.click()
})

/* Keeps times current while a page is open; mirrors views/ui/time.tsx. */
const UNITS = [
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]
/* The first line on hover is the moment to the second, in the zone of the page. */
const minuteOf = (time) => time.title.split('\n')[0].replace(/:\d\d (\S+)$/, ' $1')
function tick() {
  for (const shown of $$('time [data-relative]')) {
    const seconds = (Date.parse(shown.closest('time').dateTime) - Date.now()) / 1000
    const distance = Math.abs(seconds)
    if (distance >= 86_400) {
      shown.textContent = minuteOf(shown.closest('time'))
      continue
    }
    const [size, unit] = UNITS.find(([size]) => distance >= size) ?? [1, 's']
    const amount = `${Math.floor(distance / size)} ${unit}`
    shown.textContent = distance < 1 ? 'now' : seconds < 0 ? `${amount} ago` : `in ${amount}`
  }
}
setInterval(tick, 15_000)

/* Links replace the body of the page, without loading style sheets and scripts again. */
const script = $('script[src*="/assets/console.js"]').getAttribute('src')
const pagesBelow = `${script.split('/assets/')[0]}/console/`
const isPage = ({ pathname }) => `${pathname}/`.startsWith(pagesBelow)
const replacesPage = ({ detail: { ctx } }) => ctx.target === document.body
document.addEventListener('htmx:before:init', (event) => {
  const { target } = event
  if (target.matches('[hx-boost], [hx-get], [hx-post]')) return
  const isNative = target.matches('form[method="post"], [data-palette]')
  if (isNative || (target.matches('a') && !isPage(target))) event.preventDefault()
})
document.addEventListener('htmx:config:request', (event) => {
  if (replacesPage(event) && unsaved()) event.preventDefault()
})
document.addEventListener('htmx:before:request', (event) => {
  if (replacesPage(event)) $('#progress')?.classList.add('htmx-request')
})
/* Other documents, and those of another version, are loaded as usual. */
document.addEventListener('htmx:after:request', (event) => {
  const { ctx } = event.detail
  if (!replacesPage(event) || ctx.text.includes(script)) return
  event.preventDefault()
  location.assign(ctx.request.action)
})
document.addEventListener('htmx:error', (event) => {
  const { ctx } = event.detail
  if (ctx && replacesPage(event)) location.assign(ctx.request.action)
})

/* Keeps where a page was scrolled to, for the way back. The browser would scroll too early. */
const scrolledTo = new Map()
let sidebarAt = 0
let replacement
document.addEventListener('htmx:before:history:update', () => {
  scrolledTo.set(location.href, scrollY)
  history.scrollRestoration = 'manual'
})
document.addEventListener('htmx:before:swap', (event) => {
  if (!replacesPage(event)) return
  replacement = event.detail.ctx
  sidebarAt = $('.sidebar-body')?.scrollTop ?? 0
})
document.addEventListener('htmx:after:swap', (event) => {
  if (!replacesPage(event)) return
  const { ctx } = event.detail
  /* The transition to a page may end after the next page is there, which keeps position and title. */
  if (ctx !== replacement) {
    ctx.title = null
    return
  }
  const isBack = ctx.request.headers['HX-History-Restore-Request']
  const top = isBack ? (scrolledTo.get(location.href) ?? 0) : 0
  if (isBack || location.hash === '') scrollTo({ top, behavior: 'instant' })
  /* At the end of a way back, the browser would scroll as well, to where it believes the page was. */
  const transition = globalThis.navigation?.transition
  if (transition) transition.finished.then(scrollAutomatically, () => {})
  else scrollAutomatically()
  $('.sidebar-body')?.scrollTo(0, sidebarAt)
  isLeaving = false
  arrive()
  const focused = $('[autofocus]') ?? $('#content')
  focused?.focus({ preventScroll: true })
})

/** For a reload of the page. */
const scrollAutomatically = () => {
  history.scrollRestoration = 'auto'
}

/** Prepares a page, loaded or replaced. */
function arrive() {
  countSelected()
  const { address } = document.body.dataset
  if (address) history.replaceState(history.state, '', address)
  if (!isApple) {
    for (const key of $$('.search kbd, .modifier')) key.textContent = 'Ctrl K'
  }
  for (const toast of $$('[data-toast]')) fade(toast)
}
arrive()
