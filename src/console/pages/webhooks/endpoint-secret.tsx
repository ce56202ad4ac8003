import { PageHead } from '../../../../views/console/page-head.tsx'
import { SecretPanel } from '../../../../views/console/secret-panel.tsx'
import type { CreatedEndpoint, Endpoint } from '../../../engines/relay/model/endpoints.ts'
import { usePage } from '../../page.tsx'
import { Moment } from './state.tsx'

/** Shows the secret of a new endpoint once. */
export const CreatedEndpointPage = ({ endpoint }: { endpoint: CreatedEndpoint }) => (
  <>
    <PageHead
      title="Endpoint created"
      state={{ tone: 'good', sentence: 'The endpoint receives new messages from now on.' }}
    />
    <SecretPanel
      title="Signing secret"
      secret={endpoint.secret}
      doneHref={usePage().href(`/endpoints/${endpoint.id}`)}
    >
      Your receiver uses this secret to verify signatures. Copy it now: you won't be able to see it
      again.
    </SecretPanel>
  </>
)

/** Shows the new secret after a rotation, once. */
export const RotatedSecret = ({
  endpoint,
  secret,
  until,
}: {
  endpoint: Endpoint
  secret: string
  until: string | null
}) => (
  <>
    <PageHead
      title="Secret rotated"
      state={{
        tone: 'good',
        sentence:
          until === null ? (
            'The old secret has expired.'
          ) : (
            <>
              The old secret expires <Moment at={until} />.
            </>
          ),
      }}
    />
    <SecretPanel
      title="New signing secret"
      secret={secret}
      doneHref={usePage().href(`/endpoints/${endpoint.id}`)}
    />
  </>
)
