/** On every answer. Pages allow what they need themselves, by a policy of their own. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/** For server-rendered pages: own style sheet and scripts, nothing inline, nothing foreign. */
export const PAGE_CONTENT_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A web origin, in the characters that a policy is made of and no others. */
const ORIGIN = /^https?:\/\/[a-z0-9._-]+(:\d{1,5})?$/

/**
 * For pages that draw flows: a style sheet and pictures, and no script whatever it says. Browsers
 * hold each redirect that follows a form against `form-action`, and a sign-in leads on to
 * providers and to the tenant's app, wherever they are: so all of https is allowed, and of the rest
 * the origins in `formTargets`. Those that are none are left out.
 */
export const flowPageContentPolicy = (formTargets: readonly string[]): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "script-src 'none'",
    ["form-action 'self' https:", ...formTargets.filter((target) => ORIGIN.test(target))].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
