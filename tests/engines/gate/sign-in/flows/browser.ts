import { expect } from 'bun:test'
import { REVEAL_SCRIPT } from '../../../../../views/flows/reveal.tsx'
import type { Answer, TestApp } from '../../../../support/app.ts'
import { unescaped } from '../../../../support/http-browser.ts'
import { pathOf } from './fixture.ts'

/** A form of a page: hidden fields, visible fields with their values, and buttons. */
interface Form {
  action: string
  hidden: Record<string, string>
  fields: Record<string, string>
  buttons: [name: string, value: string][]
}

export type Page = Awaited<ReturnType<typeof pageOf>>
export type Browser = ReturnType<typeof newBrowser>

const PAGE_POLICY =
  /^default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; script-src '(none|sha256-[\w+/]{43}=)'; /
const BARE_POLICY = "default-src 'none'; frame-ancestors 'none'"

/**
 * A browser that keeps cookies and submits forms. It checks every response: nothing is cached, no
 * script but the one that shows passwords can run, and no session token is in the page, the location or a cookie.
 */
export function newBrowser(app: TestApp, own: Record<string, string> = {}) {
  const cookies = new Map<string, string>()

  async function ask(url: string, init: RequestInit = {}): Promise<Page> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...(cookie && { cookie }), ...own, ...init.headers }
    const page = await pageOf(await app.raw(pathOf(url), { ...init, headers }))
    expectSafe(page)
    for (const set of page.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] as string).split('=')
      cookies.set(name, value)
    }
    return page
  }

  const visit = (url: string): Promise<Page> => ask(url)

  const post = (url: string, fields: Record<string, string>): Promise<Page> =>
    ask(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString(),
    })

  /** Fills in the form with the button, and presses it. */
  function press(page: Page, [name, value]: [string, string], typed: Record<string, string> = {}) {
    const form = page.forms.find(({ buttons }) =>
      buttons.some((one) => `${one}` === `${name},${value}`),
    )
    expect(form, `a form with the button ${name}=${value}`).toBeDefined()
    const { action, hidden, fields } = form as Form
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(Object.keys(typed)))
    return post(action, { ...hidden, ...fields, ...typed, [name]: value })
  }

  /** Follows a redirect, which must lead to a page of a flow. */
  const follow = ({ status, location }: Page): Promise<Page> => {
    expect(status).toBe(303)
    expect(new URL(location).pathname).toStartWith('/auth/self-service/')
    return visit(location)
  }

  const signIn = async (url: string, identifier: string, password: string): Promise<Page> =>
    press(await visit(url), ['method', 'password'], { identifier, password })

  return { cookies, visit, post, press, follow, signIn }
}

export async function pageOf({ status, headers, body }: Answer) {
  const html = typeof body === 'string' ? body : JSON.stringify(body)
  const forms: Form[] = []
  const links: string[] = []
  const spoken: string[] = []
  new HTMLRewriter()
    .on('form', {
      element(form) {
        expect(form.getAttribute('method')).toBe('post')
        const action = unescaped(form.getAttribute('action') ?? '')
        forms.push({ action, hidden: {}, fields: {}, buttons: [] })
      },
    })
    .on('form input', {
      element(input) {
        const name = input.getAttribute('name')
        const form = forms.at(-1)
        if (name === null || !form) return
        const group = input.getAttribute('type') === 'hidden' ? form.hidden : form.fields
        group[unescaped(name)] = unescaped(input.getAttribute('value') ?? '')
      },
    })
    .on('form button:not([type="button"])', {
      element(button) {
        const [name, value] = [button.getAttribute('name'), button.getAttribute('value')]
        forms.at(-1)?.buttons.push([unescaped(name ?? ''), unescaped(value ?? '')])
      },
    })
    .on('a', { element: (link) => void links.push(unescaped(link.getAttribute('href') ?? '')) })
    .on('body', { text: (chunk) => void spoken.push(chunk.text) })
    .transform(html)
  const location = headers.get('location') ?? ''
  return { status, headers, html, forms, links, text: unescaped(spoken.join('')), location }
}

function expectSafe(page: Page) {
  const { headers, html, location } = page
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('x-frame-options')).toBe('DENY')
  const policy = headers.get('content-security-policy') ?? ''
  if (headers.get('content-type')?.startsWith('text/html')) {
    expect(policy).toMatch(PAGE_POLICY)
    expect(policy).toEndWith("; base-uri 'none'; frame-ancestors 'none'")
    expect(html.replace(`<script>${REVEAL_SCRIPT}</script>`, '')).not.toContain('<script')
  } else expect(policy).toBe(BARE_POLICY)
  for (const seen of [html, location, ...headers.getSetCookie()])
    expect(seen).not.toContain('gat_st_')
}
