/** What the browser brings to the callback. */
export interface Arrival {
  method: 'GET' | 'POST'
  params: URLSearchParams
}

/** The parameters with these changes; null removes one. */
export function withParams(
  params: URLSearchParams,
  changes: Record<string, string | null>,
): URLSearchParams {
  const next = Object.entries({ ...Object.fromEntries(params), ...changes })
  return new URLSearchParams(next.filter((one): one is [string, string] => one[1] !== null))
}

const MAX_STEPS = 5

/** Follows redirects and presses the button of each form, up to the callback `to`. */
export async function walk(
  url: string,
  { to, press = 'allow' }: { to: string; press?: 'allow' | 'deny' },
): Promise<Arrival> {
  let step: { url: string; body?: URLSearchParams } = { url }
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    if (step.url.split('?')[0] === to)
      return step.body
        ? { method: 'POST', params: step.body }
        : { method: 'GET', params: new URL(step.url).searchParams }
    const method = step.body ? 'POST' : 'GET'
    const response = await fetch(step.url, { method, body: step.body, redirect: 'manual' })
    const location = response.headers.get('location')
    if (location) step = { url: new URL(location, step.url).href }
    else step = await formIn(response, step.url, press)
  }
  throw new Error(`no end after ${MAX_STEPS} steps`)
}

async function formIn(response: Response, url: string, press: string) {
  const body = new URLSearchParams()
  let action: string | undefined
  const page = await response.text()
  const element = (input: HTMLRewriterTypes.Element) =>
    body.append(input.getAttribute('name') ?? '', unescaped(input.getAttribute('value')))
  new HTMLRewriter()
    .on('form', {
      element: (form) => {
        action = unescaped(form.getAttribute('action'))
      },
    })
    .on(`form input, form button[value="${press}"]`, { element })
    .transform(page)
  if (action === undefined) throw new Error(`no form at ${url} (${response.status}): ${page}`)
  return { url: new URL(action, url).href, body }
}

/** Undoes `Bun.escapeHTML`. */
const unescaped = (text: string | null) =>
  (text ?? '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
