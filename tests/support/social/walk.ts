/** What the browser brings to the callback. */
export interface Arrival {
  method: 'GET' | 'POST'
  params: URLSearchParams
}

const MAX_STEPS = 20

/**
 * Goes where a browser would go from `url`: follows redirects with cookies, presses the button
 * of each form, and stops short of the callback, whose parameters it gives.
 */
export async function walk(
  url: string,
  { to, press = 'allow' }: { to: string; press?: 'allow' | 'deny' },
): Promise<Arrival> {
  const cookies = new Map<string, string>()
  let step: { url: string; body?: URLSearchParams } = { url }
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    if (isAt(step.url, to)) return arrival(step)
    const response = await fetch(step.url, {
      method: step.body ? 'POST' : 'GET',
      body: step.body,
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    })
    keep(cookies, response.headers.getSetCookie())
    const location = response.headers.get('location')
    if (location) step = { url: new URL(location, step.url).href }
    else step = await formIn(response, step.url, press)
  }
  throw new Error(`no end after ${MAX_STEPS} steps`)
}

const isAt = (url: string, to: string) => url === to || url.startsWith(`${to}?`)

const arrival = ({ url, body }: { url: string; body?: URLSearchParams }): Arrival => ({
  method: body ? 'POST' : 'GET',
  params: body ?? new URL(url).searchParams,
})

function keep(cookies: Map<string, string>, set: string[]) {
  for (const cookie of set) {
    const [pair = ''] = cookie.split(';')
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    if (value === '') cookies.delete(name)
    else cookies.set(name, value)
  }
}

async function formIn(response: Response, url: string, press: string) {
  const fields: [string, string][] = []
  const actions: string[] = []
  const page = await response.text()
  const take = (element: HTMLRewriterTypes.Element) =>
    fields.push([element.getAttribute('name') ?? '', unescaped(element.getAttribute('value'))])
  await new HTMLRewriter()
    .on('form', { element: (form) => void actions.push(unescaped(form.getAttribute('action'))) })
    .on('form input', { element: (input) => void take(input) })
    .on(`form button[value="${press}"]`, { element: (button) => void take(button) })
    .transform(new Response(page))
    .text()
  const [action] = actions
  if (action === undefined) throw new Error(`no form at ${url} (${response.status}): ${page}`)
  return { url: new URL(action, url).href, body: new URLSearchParams(fields) }
}

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
  '&#39;': "'",
}

const unescaped = (text: string | null) =>
  (text ?? '').replaceAll(/&(?:amp|lt|gt|quot|#x27|#39);/g, (entity) => ENTITIES[entity] ?? entity)
