import type { Failure } from '../../src/http/errors.ts'
import { LinkButton } from '../ui/form/button.tsx'
import { Id } from '../ui/id.tsx'
import { url } from '../ui/url.ts'
import type { Theme } from './model.ts'
import { PlainLayout } from './plain-layout.tsx'

/** Error page: title, reason and request ID. */
export const ErrorPage = (page: {
  base: string
  theme: Theme
  status: number
  kind: Failure['kind']
  sentence: string
  requestId: string
}) => (
  <PlainLayout
    base={page.base}
    theme={page.theme}
    windowTitle={TITLES[page.kind] ?? 'Request failed'}
    title={TITLES[page.kind] ?? 'Request failed'}
    intro={page.sentence}
  >
    <div class="actions">
      {page.kind === 'unauthenticated' ? (
        <LinkButton weight="primary" href={url(page.base, '/console/login')}>
          Sign in
        </LinkButton>
      ) : (
        <LinkButton href={url(page.base, '/console')}>Go to the console</LinkButton>
      )}
    </div>
    <p class="hint">
      Status {page.status}, request <Id id={page.requestId} what="request ID" />
    </p>
  </PlainLayout>
)

const TITLES: Partial<Record<Failure['kind'], string>> = {
  unauthenticated: "You're signed out",
  forbidden: "You don't have access",
  not_found: 'Page not found',
  gone: 'No longer available',
  conflict: 'Not possible in this state',
  invalid: 'Invalid request',
  method_not_allowed: 'Page not found',
  too_large: 'Request too large',
  unsupported_media_type: 'Unsupported format',
  rate_limited: 'Too many requests',
  payment_required: 'Account suspended',
  unavailable: 'Temporarily unavailable',
  internal: 'Something went wrong',
}
