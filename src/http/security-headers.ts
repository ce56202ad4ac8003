import { hash } from 'node:crypto'

/** Sent with every response. Pages have a policy of their own that allows what they need. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/** For server-rendered pages: own style sheet and scripts, nothing inline or from elsewhere. */
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

/** A web origin in the characters allowed in a policy. */
const ORIGIN = /^https?:\/\/[a-z0-9._-]+(:\d{1,5})?$/

/**
 * For pages that show flows: style sheets, fonts and images, and no script but the given inline one.
 * Browsers check each redirect after a form against `form-action`, and a sign-in redirects to
 * providers and to the tenant's app on any host, so all of https is allowed, and beyond that the
 * origins in `formTargets`. Invalid origins are left out.
 */
export const flowPageContentPolicy = (formTargets: readonly string[], script?: string): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `script-src ${script === undefined ? "'none'" : `'sha256-${hash('sha256', script, 'base64')}'`}`,
    ["form-action 'self' https:", ...formTargets.filter((target) => ORIGIN.test(target))].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
