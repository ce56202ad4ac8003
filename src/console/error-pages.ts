import { ErrorPage } from '../../views/layout/error-page.tsx'
import { type Failure, statusOf } from '../http/errors.ts'
import { type Layout, themeOf } from './layout.ts'
import { SESSION_COOKIE } from './operators/session-cookie.ts'

/** Error pages for browsers, instead of JSON. */
export function createErrorPages({ layout: { base, html } }: { layout: Layout }) {
  /** Undefined for requests that are not from a browser to a page of the console. */
  return function errorPage(
    request: Request,
    failure: Failure,
    requestId: string,
  ): Response | undefined {
    const { pathname, search } = new URL(request.url)
    const accept = request.headers.get('accept') ?? ''
    // Streams are not redirected to sign-in, because the browser would reconnect forever.
    const isForPage = accept.includes('text/html') && !accept.includes('text/event-stream')
    if (!isForPage || !isPage(pathname)) return undefined
    const here = `${pathname}${search}`
    if (failure.kind === 'unauthenticated' && request.method === 'GET')
      return new Response(null, {
        status: 303,
        headers: { location: `${base()}/console/login?${new URLSearchParams({ to: here })}` },
      })
    const status = statusOf(failure)
    const { kind } = failure
    const theme = themeOf(request)
    const sentence = sentenceOn(request, failure)
    const page = ErrorPage({ base: base(), theme, status, kind, sentence, requestId })
    return html(page, status)
  }
}

const isPage = (path: string): boolean => /^\/(console|setup)(\/|$)/.test(path)

/** Error text for people, without API keys, routes and methods. */
function sentenceOn(
  { method }: Request,
  { kind, message, rule, retryAfterMs = 0 }: Failure,
): string {
  switch (kind) {
    case 'unauthenticated':
      return 'Your session has ended and nothing was saved. Sign in and try again.'
    case 'rate_limited':
      return `${sentence(message)} Wait ${waitOf(retryAfterMs)}, then reload the page.`
    case 'method_not_allowed':
      return "This page doesn't exist. Go to the console."
    case 'not_found':
      return rule === 'unknown_route'
        ? `This ${method === 'GET' ? 'page' : 'form'} doesn't exist.`
        : sentence(message)
    case 'unavailable':
      return `${sentence(message)} Nothing was changed. Try again in a moment.`
    default:
      return sentence(message)
  }
}

const sentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}.`

function waitOf(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  return seconds === 1 ? '1 second' : `${seconds} seconds`
}

/** Paths that take a session instead of an API key. */
const OF_SESSIONS = /^\/(console|dashboard|setup)(\/|$)/

/**
 * Value of `WWW-Authenticate`, which a 401 response must have (RFC 9110, 15.5.2). No scheme is registered
 * for cookies; `Cookie` is used by drafts and other servers, and makes no browser ask for a password.
 */
export const challengeOn = (path: string): string =>
  OF_SESSIONS.test(path) ? `Cookie cookie-name="${SESSION_COOKIE}"` : 'Bearer'
