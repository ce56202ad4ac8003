import { unescaped } from '../http-browser.ts'

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

const escaped = (text: string) => Bun.escapeHTML(text)

const page = (title: string, action: string, content: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1><form method="post" action="${escaped(action)}">${content}</form></body></html>`

/** Asks the user of an account whether they agree. */
export const consentPage = (title: string, action: string, { name }: { name: string }): string =>
  page(
    title,
    action,
    `<p>Signed in as ${escaped(name)}</p>
<button name="decision" value="allow">Continue</button>
<button name="decision" value="deny">Cancel</button>`,
  )

/** Posts these fields back, without a script. */
export const backPage = (action: string, fields: Record<string, string>): string => {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
  )
  return page('Continue', action, inputs.join(''))
}

const MAX_STEPS = 5

/** Follows redirects and presses the button of each form, up to the callback `to`. */
export async function walk(
  url: string,
  { to, press = 'allow' }: { to: string; press?: 'allow' | 'deny' },
): Promise<Arrival> {
  let step: { url: string; body?: URLSearchParams } = { url }
  for (let steps = 0; steps < MAX_STEPS; steps++) {
    const method = step.body ? 'POST' : 'GET'
    if (step.url.split('?')[0] === to)
      return { method, params: step.body ?? new URL(step.url).searchParams }
    const response = await fetch(step.url, { method, body: step.body, redirect: 'manual' })
    const location = response.headers.get('location')
    if (location) step = { url: new URL(location, step.url).href }
    else step = formIn(await response.text(), step.url, press)
  }
  throw new Error(`no end after ${MAX_STEPS} steps`)
}

function formIn(html: string, url: string, press: string) {
  const action = /<form method="post" action="([^"]*)">/.exec(html)?.[1]
  if (action === undefined) throw new Error(`no form at ${url}: ${html}`)
  const fields = [...html.matchAll(/name="(\w+)" value="([^"]*)"/g)]
    .map(([, name = '', value = '']) => [name, unescaped(value)])
    .filter(([name, value]) => name !== 'decision' || value === press)
  return { url: new URL(unescaped(action), url).href, body: new URLSearchParams(fields) }
}
