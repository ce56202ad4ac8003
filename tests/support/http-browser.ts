import { expect } from 'bun:test'

/** A form as a page has it: what its fields hold, also hidden ones, and the buttons that send it. */
interface Form {
  action: string
  values: Record<string, string>
  buttons: { name: string; value: string; label: string }[]
}

export type Seen = Awaited<ReturnType<typeof seen>>
export type HttpBrowser = ReturnType<typeof newHttpBrowser>

/** Longer ways than this go in circles. */
const MAX_STEPS = 10

/**
 * A browser, as far as HTTP goes and across servers: keeps cookies by host and path, whatever the
 * port, and follows redirects, except for those to where `stopsBefore` says.
 */
export function newHttpBrowser({ stopsBefore = 'nowhere' }: { stopsBefore?: string } = {}) {
  const jar: { host: string; path: string; name: string; value: string }[] = []
  const steps: string[] = []

  async function visit(url: string, init: RequestInit = {}): Promise<Seen> {
    steps.length = 0
    let next: RequestInit & { url: string } = { ...init, url }
    while (steps.length < MAX_STEPS) {
      steps.push(next.url)
      // Compressed pages end with a random comment.
      const headers = {
        accept: 'text/html',
        'accept-encoding': 'identity',
        cookie: cookiesFor(next.url),
      }
      const response = await fetch(next.url, { ...next, redirect: 'manual', headers })
      keep(next.url, response.headers.getSetCookie())
      const location = response.headers.get('location')
      if (location === null) return seen(next.url, response)
      next = { url: new URL(location, next.url).href }
      if (next.url.startsWith(stopsBefore)) return seen(next.url, response)
    }
    throw new Error(`no end: ${steps.join(' ')}`)
  }

  /** Fills in the form that has this button, known by its label or as `name=value`, and presses it. */
  function press(page: Seen, what: string, typed: Record<string, string> = {}): Promise<Seen> {
    const isMeant = ({ name, value, label }: Form['buttons'][number]) =>
      what === label || what === `${name}=${value}`
    const form = page.forms.find(({ buttons }) => buttons.some(isMeant))
    const button = form?.buttons.find(isMeant)
    if (!form || !button) throw new Error(`no button ${what} on ${page.url}: ${page.html}`)
    expect(Object.keys(form.values)).toEqual(expect.arrayContaining(Object.keys(typed)))
    const { name, value } = button
    const fields = { ...form.values, ...typed, ...(name !== '' && { [name]: value }) }
    return visit(form.action, { method: 'POST', body: new URLSearchParams(fields) })
  }

  function follow(page: Seen, what: string): Promise<Seen> {
    const link = page.links.find(({ label, url }) => label === what || url.includes(what))
    if (!link) throw new Error(`no link ${what} on ${page.url}: ${page.html}`)
    return visit(link.url)
  }

  function cookiesFor(url: string): string {
    const { hostname, pathname } = new URL(url)
    const sent = jar.filter(({ host, path }) => host === hostname && pathname.startsWith(path))
    return sent.map(({ name, value }) => `${name}=${value}`).join('; ')
  }

  function keep(url: string, set: string[]) {
    const { hostname: host } = new URL(url)
    for (const cookie of set) {
      const [pair = '', ...attributes] = cookie.split(/;\s*/)
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      const path = attributes.find((one) => /^path=/i.test(one))?.slice('path='.length) ?? '/'
      const at = jar.findIndex((one) => one.name === name && one.host === host && one.path === path)
      if (at !== -1) jar.splice(at, 1)
      const isOver = attributes.some((one) => /^max-age=0$|^expires=.*\b1970\b/i.test(one))
      if (!isOver) jar.push({ host, path, name, value })
    }
  }

  const cookie = (name: string) => jar.find((one) => one.name === name)?.value

  /** Keeps a cookie that another one has set. */
  const plant = (url: string, cookie: string) => keep(url, [cookie])

  /** `steps` are the addresses of the last visit. */
  return { visit, press, follow, steps, plant, cookie }
}

/** A page, taken apart the way a browser reads it. */
async function seen(url: string, response: Response) {
  const html = await response.text()
  const forms: Form[] = []
  const links: { url: string; label: string }[] = []
  const read = (element: HTMLRewriterTypes.Element, name: string) =>
    unescaped(element.getAttribute(name) ?? '')
  const target = (element: HTMLRewriterTypes.Element, name: string) =>
    new URL(read(element, name), url).href
  await new HTMLRewriter()
    .on('form', {
      element: (form) =>
        void forms.push({ action: target(form, 'action'), values: {}, buttons: [] }),
    })
    .on('form input', {
      element(input) {
        const { values } = forms.at(-1) as Form
        if (input.hasAttribute('name')) values[read(input, 'name')] = read(input, 'value')
      },
    })
    .on('form button', {
      element(button) {
        const [name, value] = [read(button, 'name'), read(button, 'value')]
        forms.at(-1)?.buttons.push({ name, value, label: '' })
      },
      text(chunk) {
        const button = forms.at(-1)?.buttons.at(-1)
        if (button) button.label += unescaped(chunk.text)
      },
    })
    .on('a', {
      element: (link) => void links.push({ url: target(link, 'href'), label: '' }),
      text(chunk) {
        const link = links.at(-1)
        if (link) link.label += unescaped(chunk.text)
      },
    })
    .transform(new Response(html))
    .text()
  const { status, headers } = response
  const text = unescaped(html.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ')
  return { url, status, headers, html, forms, links, text: text.trim() }
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }

export const unescaped = (text: string): string =>
  text
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/&#x([\da-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name] as string)
