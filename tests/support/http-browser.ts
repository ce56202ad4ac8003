import { expect } from 'bun:test'

/** A form as a page has it: what is sent along, and the buttons that send it. */
interface Form {
  action: string
  /** What is hidden in it, and what its fields hold. */
  values: Record<string, string>
  buttons: { name: string; value: string; label: string }[]
}

export type Seen = Awaited<ReturnType<typeof seen>>
export type HttpBrowser = ReturnType<typeof newHttpBrowser>

/** Longer ways than this go in circles. */
const MAX_STEPS = 10

/**
 * Somebody with a browser, as far as HTTP goes and across servers: cookies are kept by host and
 * path, whatever the port, and redirects followed, but for those to where `stopsBefore` says.
 */
export function newHttpBrowser({ stopsBefore = 'nowhere' }: { stopsBefore?: string } = {}) {
  const jar: { host: string; path: string; name: string; value: string }[] = []
  const steps: string[] = []

  async function visit(url: string, init: RequestInit = {}): Promise<Seen> {
    steps.length = 0
    let next: RequestInit & { url: string } = { ...init, url }
    while (steps.length < MAX_STEPS) {
      steps.push(next.url)
      const response = await fetch(next.url, {
        ...next,
        redirect: 'manual',
        headers: { accept: 'text/html', cookie: cookiesFor(next.url) },
      })
      keep(next.url, response.headers.getSetCookie())
      const location = response.headers.get('location')
      if (location === null) return seen(next.url, response)
      // After 307 the browser sends the same form again.
      next = { ...(response.status === 307 && next), url: new URL(location, next.url).href }
      if (next.url.startsWith(stopsBefore)) return seen(next.url, response)
    }
    throw new Error(`no end: ${steps.join(' ')}`)
  }

  /** Fills in the form that has this button, known by its label or as `name=value`, and presses it. */
  function press(page: Seen, what: string, typed: Record<string, string> = {}): Promise<Seen> {
    const form = page.forms.find(({ buttons }) => buttons.some(isCalled(what)))
    const button = form?.buttons.find(isCalled(what))
    if (!form || !button) throw new Error(`no button ${what} on ${page.url}: ${page.html}`)
    expect(Object.keys(form.values)).toEqual(expect.arrayContaining(Object.keys(typed)))
    const { name, value } = button
    const fields = { ...form.values, ...typed, ...(name !== '' && { [name]: value }) }
    return visit(form.action, { method: 'POST', body: new URLSearchParams(fields) })
  }

  /** Goes where a link leads, known by its label or by part of its address. */
  function follow(page: Seen, what: string): Promise<Seen> {
    const link = page.links.find(({ label, url }) => label === what || url.includes(what))
    if (!link) throw new Error(`no link ${what} on ${page.url}: ${page.html}`)
    return visit(link.url)
  }

  const cookiesFor = (url: string): string => {
    const { hostname, pathname } = new URL(url)
    return jar
      .filter(({ host, path }) => host === hostname && pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }

  function keep(url: string, set: string[]) {
    const { hostname: host } = new URL(url)
    for (const cookie of set) {
      const [pair = '', ...attributes] = cookie.split(/;\s*/)
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      const path = attributes.find((one) => /^path=/i.test(one))?.slice('path='.length) ?? '/'
      const at = jar.findIndex((one) => one.name === name && one.host === host && one.path === path)
      if (at !== -1) jar.splice(at, 1)
      if (!isOver(attributes)) jar.push({ host, path, name, value })
    }
  }

  return {
    visit,
    press,
    follow,
    /** The addresses of the last visit, one a step. */
    steps,
    /** What somebody else has made the browser keep. */
    plant: (url: string, cookie: string) => keep(url, [cookie]),
    cookie: (name: string) => jar.find((one) => one.name === name)?.value,
  }
}

const isCalled =
  (what: string) =>
  ({ name, value, label }: Form['buttons'][number]): boolean =>
    what === label || what === `${name}=${value}`

const isOver = (attributes: string[]): boolean =>
  attributes.some((one) => /^max-age=0$/i.test(one) || /^expires=.*\b1970\b/i.test(one))

/** A page, taken apart the way a browser reads it. */
async function seen(url: string, response: Response) {
  const html = await response.text()
  const forms: Form[] = []
  const links: { url: string; label: string }[] = []
  const at = (place: string | null) => new URL(unescaped(place ?? ''), url).href
  const attribute = (element: HTMLRewriterTypes.Element, name: string) =>
    unescaped(element.getAttribute(name) ?? '')
  await new HTMLRewriter()
    .on('form', {
      element: (form) =>
        void forms.push({ action: at(form.getAttribute('action')), values: {}, buttons: [] }),
    })
    .on('form input', {
      element(input) {
        const { values } = forms.at(-1) as Form
        if (input.hasAttribute('name')) values[attribute(input, 'name')] = attribute(input, 'value')
      },
    })
    .on('form button', {
      element(button) {
        const [name, value] = [attribute(button, 'name'), attribute(button, 'value')]
        forms.at(-1)?.buttons.push({ name, value, label: '' })
      },
      text(chunk) {
        const button = forms.at(-1)?.buttons.at(-1)
        if (button) button.label += unescaped(chunk.text)
      },
    })
    .on('a', {
      element: (link) => void links.push({ url: at(link.getAttribute('href')), label: '' }),
      text(chunk) {
        const link = links.at(-1)
        if (link) link.label += unescaped(chunk.text)
      },
    })
    .transform(new Response(html))
    .text()
  const { status, headers } = response
  return { url, status, headers, html, forms, links, text: textOf(html) }
}

const textOf = (html: string): string =>
  unescaped(html.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }

const unescaped = (text: string): string =>
  text
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll(/&#x([\da-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name] as string)
