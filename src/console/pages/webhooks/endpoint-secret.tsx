import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { Moment } from './state.tsx'

/** Shows the signing secret of a new endpoint or webhook, once. */
export const CreatedSecret = (of: {
  title: string
  sentence: string
  secret: string
  /** Page of what was created. */
  doneHref: string
}) => (
  <>
    <PageHead title={of.title} state={{ tone: 'good', sentence: of.sentence }} />
    <SecretPanel title="Signing secret" secret={of.secret} doneHref={of.doneHref}>
      Your receiver uses this secret to verify signatures. Copy it now: you won't be able to see it
      again.
    </SecretPanel>
  </>
)

/** Shows the new secret after a rotation, once. */
export const RotatedSecret = (of: { secret: string; until: string | null; doneHref: string }) => (
  <>
    <PageHead
      title="Secret rotated"
      state={{
        tone: 'good',
        sentence:
          of.until === null ? (
            'The old secret has expired.'
          ) : (
            <>
              The old secret expires <Moment at={of.until} />.
            </>
          ),
      }}
    />
    <SecretPanel title="New signing secret" secret={of.secret} doneHref={of.doneHref} />
  </>
)
