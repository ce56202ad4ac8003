import { ErrorPage } from '../../views/console/pages/error.tsx'
import { type Failure, statusOf } from '../http/errors.ts'
import { type Frames, themeOf } from './frame.ts'

/** What people are shown, rather than JSON, where something is refused or went wrong. */
export const createErrorPages = ({ base, html }: Frames) =>
  /** Undefined for whoever is no browser at a page of the console. */
  function errorPage(request: Request, failure: Failure, requestId: string): Response | undefined {
    const { pathname, search } = new URL(request.url)
    if (!isPage(pathname) || !request.headers.get('accept')?.includes('text/html')) return undefined
    const here = `${pathname}${search}`
    if (failure.kind === 'unauthenticated' && request.method === 'GET')
      return new Response(null, {
        status: 303,
        headers: { location: `${base()}/console/login?${new URLSearchParams({ to: here })}` },
      })
    const status = statusOf(failure)
    const { message, kind } = failure
    const theme = themeOf(request)
    return html(ErrorPage({ base: base(), theme, status, kind, message, requestId }), status)
  }

const isPage = (path: string): boolean => /^\/(console|setup)(\/|$)/.test(path)
