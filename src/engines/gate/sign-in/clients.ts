import { createCookie } from '../../../http/cookies.ts'
import { preferredLanguage } from '../../../http/language.ts'
import { isMinted, mintSecret } from '../../../platform/crypto.ts'
import type { Client } from './flows/client.ts'
import { browserHashOf } from './flows/flow.ts'
import { LANGUAGES } from './model.ts'

const MAX_USER_AGENT_LENGTH = 512

export type ClientOf = ReturnType<typeof createClientOf>

/** Identifies the client of a request; `cookie` is to be set if the browser sent none. */
export function createClientOf(parts: {
  addressOf: (request: Request) => string | undefined
  baseUrl: () => string
}) {
  const { addressOf, baseUrl } = parts
  /** Recognizes a browser across the pages of a flow. */
  const cookie = createCookie({ name: 'gatehouse_browser', path: '/auth', baseUrl })

  function clientOf(request: Request): { client: Client; cookie: string | undefined } {
    const { headers } = request
    const wants = headers.get('accept')?.includes('text/html') ? 'page' : 'json'
    const known = knownBrowser(request)
    const browser = known ?? (wants === 'page' ? mintSecret() : undefined)
    const client: Client = {
      wants,
      ipAddress: addressOf(request) ?? null,
      userAgent: headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
      language: preferredLanguage(headers.get('accept-language'), LANGUAGES),
      browserHash: browser === undefined ? null : browserHashOf(browser),
      sessionToken: headers.get('x-session-token') ?? undefined,
      hasKey: false,
    }
    const isNew = known === undefined && browser !== undefined
    return { client, cookie: isNew ? cookie.set(browser) : undefined }
  }

  /** Accepts only values in the format of our own cookies. */
  function knownBrowser(request: Request): string | undefined {
    const value = cookie.in(request)
    return value !== undefined && isMinted(value) ? value : undefined
  }

  return clientOf
}
