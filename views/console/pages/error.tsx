import type { Failure } from '../../../src/http/errors.ts'
import { LinkButton } from '../form/button.tsx'
import type { Theme } from '../frame/model.ts'
import { PlainFrame } from '../frame/plain-frame.tsx'
import { Id } from '../id.tsx'
import { url } from '../url.ts'

/** Why there is no such page, or not for them. */
export const ErrorPage = (page: {
  base: string
  theme: Theme
  status: number
  kind: Failure['kind']
  sentence: string
  requestId: string
}) => (
  <PlainFrame
    base={page.base}
    theme={page.theme}
    windowTitle={TITLES[page.kind] ?? 'Not possible'}
    title={TITLES[page.kind] ?? 'Not possible'}
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
      Status {page.status}, request <Id id={page.requestId} what="request id" />
    </p>
  </PlainFrame>
)

const TITLES: Partial<Record<Failure['kind'], string>> = {
  unauthenticated: 'You are signed out',
  forbidden: 'Not for you',
  not_found: 'Nothing here',
  gone: 'No longer here',
  conflict: 'Not as it is now',
  invalid: 'Not understood',
  method_not_allowed: 'Nothing here',
  too_large: 'Too much at once',
  unsupported_media_type: 'Not understood',
  rate_limited: 'Too fast',
  payment_required: 'Not while the account is suspended',
  unavailable: 'Not right now',
  internal: 'Something went wrong on our side',
}
