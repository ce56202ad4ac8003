import { Banner } from '../../../../views/ui/banner.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { Confirm } from '../../../../views/ui/confirm.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { SigningSecret } from '../../../engines/clockwork/model.ts'
import { SECOND_MS } from '../../../platform/durations.ts'
import { good, page, usePage } from '../../page.tsx'
import { GracePeriod, gracePeriodIn } from '../grace-period.tsx'

type Shown = SigningSecret & { isLost: boolean }

/** Shows and rotates the secret that signs requests of jobs. */
export const jobSigningSecret = page({
  path: '/jobs/signing-secret',
  section: 'jobs',
  right: 'change',
  title: 'Signing secret of jobs',

  load: ({ clockwork, tenantId, caller }): Shown => ({
    ...clockwork.signingSecrets.get(caller('clockwork')),
    isLost: clockwork.signingSecrets.isLost(tenantId),
  }),

  view: (current) => (
    <>
      <PageHead
        title="Signing secret of jobs"
        state={{ sentence: 'Signs the requests of signed jobs by Standard Webhooks.' }}
        aside={<LinkButton href={usePage().href('/jobs')}>View jobs</LinkButton>}
      />
      {current.secret || current.isLost ? (
        <Secret {...current} />
      ) : (
        <p class="hint">The first signed job creates it.</p>
      )}
    </>
  ),

  actions: {
    rotate: {
      right: 'change',
      flash: good('Secret rotated.'),
      async run({ clockwork, caller, fields }) {
        const grace_seconds = gracePeriodIn(fields) / SECOND_MS
        await clockwork.signingSecrets.replace(caller('clockwork'), { grace_seconds })
      },
    },
  },
})

const Secret = ({ secret, isLost, previous_expires_at: until }: Shown) => (
  <Section id="secret" title="Secret" isCard>
    {isLost ? (
      <Banner tone="bad">
        The secret can't be decrypted, so signed jobs fail. Rotate it, and update your receivers.
      </Banner>
    ) : (
      <details class="fold">
        <summary>Show secret</summary>
        <CodeBlock title="Signing secret" what="signing secret">
          {secret}
        </CodeBlock>
      </details>
    )}
    {until !== null && (
      <p class="hint">
        The old secret also signs until <Time at={Date.parse(until)} />.
      </p>
    )}
    <Confirm
      id="rotate"
      verb="Rotate secret"
      question="Rotate the signing secret?"
      consequence="All signed jobs use the new secret. Update your receivers before the old one expires."
      action={usePage().actionHref('rotate')}
      isHarmless
    >
      <GracePeriod label="Old secret expires" />
    </Confirm>
  </Section>
)
