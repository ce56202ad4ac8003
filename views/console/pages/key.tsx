import type { FoundKey } from '../../../src/platform/keys.ts'
import { Meter } from '../charts/meter.tsx'
import { Confirm, DangerZone } from '../confirm.tsx'
import { Facts } from '../facts.tsx'
import { LinkButton } from '../form/button.tsx'
import { Select } from '../form/select.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { Countdown, Time, utcMinute } from '../time.tsx'
import { url } from '../url.ts'
import { capitalized } from '../words.ts'
import { ENGINE_WORDS, type KeyState, STATE_BADGES, stateOf } from './key-words.ts'

interface Page {
  base: string
  key: FoundKey
  /** The key that replaces this one. */
  replacement: FoundKey | undefined
  now: number
}

/** One API key: scopes, use, rotation and revocation. */
export const KeyPage = (page: Page) => {
  const { base, key, now } = page
  const state = stateOf(key, now)
  const action = (verb: string) => url(base, `/console/keys/${key.id}/${verb}`)
  return (
    <>
      <PageHead
        title={<code>{key.hint}</code>}
        state={{ tone: STATE_BADGES[state].tone, sentence: sentenceOn(page, state) }}
        action={state === 'active' && <Rotate action={action('rotate')} />}
        aside={
          <LinkButton href={url(base, '/console/audit', { object: `key:${key.id}` })}>
            Audit log
          </LinkButton>
        }
      />
      {state === 'ending' && <ExpiryNotice {...page} />}
      <About {...page} />
      {state !== 'ended' && (
        <DangerZone
          items={[
            {
              title: 'Revoke key',
              text: "Requests with this key fail immediately. This can't be undone.",
              control: (
                <Confirm
                  id="revoke"
                  verb="Revoke key"
                  question={
                    <>
                      Revoke <code>{key.hint}</code>?
                    </>
                  }
                  consequence={`${lastUse(page)} Apps that use this key lose access immediately, and access tokens created with it stop working.`}
                  action={action('revoke')}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

function sentenceOn({ key, now }: Page, state: KeyState) {
  const used =
    key.last_used_at === null ? (
      'never used'
    ) : (
      <>
        last used <Time at={Date.parse(key.last_used_at)} now={now} />
      </>
    )
  if (state === 'active') return <>Active; {used}</>
  if (state === 'ended')
    return (
      <>
        {key.revoked_at === null ? 'Expired' : 'Revoked'}; {used}
      </>
    )
  return (
    <>
      Rotated; expires in <Countdown until={Date.parse(key.expires_at ?? '')} now={now} />; {used}
    </>
  )
}

const lastUse = ({ key }: Page): string =>
  key.last_used_at === null
    ? 'Never used.'
    : `Last used ${utcMinute(Date.parse(key.last_used_at))}.`

/** Progress of a rotation: how long both keys work, and whether the new one is in use. */
const ExpiryNotice = ({ base, key, replacement, now }: Page) => {
  const endsAt = Date.parse(key.expires_at ?? '')
  const begunAt = Date.parse(replacement?.created_at ?? key.created_at)
  return (
    <Section id="ending" title="Rotation in progress" isCard>
      <Meter
        label="Both keys work"
        tone="warn"
        value={now - begunAt}
        max={endsAt - begunAt}
        amount={`Until ${utcMinute(endsAt)}`}
      />
      {replacement && (
        <p class="hint">
          The new key{' '}
          <a href={url(base, `/console/keys/${replacement.id}`)}>
            <code>{replacement.hint}</code>
          </a>
          {replacement.last_used_at === null ? ' has not been used yet.' : ' is in use.'}
        </p>
      )}
    </Section>
  )
}

const About = ({ base, key, replacement, now }: Page) => {
  const time = (at: string | null) =>
    at === null ? 'Never' : <Time at={Date.parse(at)} now={now} />
  return (
    <Section id="about" title="About" isCard>
      <Facts
        facts={[
          ['ID', <Id id={key.id} what="key ID" />],
          ['Engine', ENGINE_WORDS[key.engine].label],
          ['Environment', capitalized(key.environment ?? 'live')],
          [
            'Scopes',
            <ul class="scopelist">
              {key.scopes.map((scope) => (
                <li>
                  <code>{scope}</code>
                </li>
              ))}
            </ul>,
          ],
          ['Created', time(key.created_at)],
          ['Last used', time(key.last_used_at)],
          ...(key.revoked_at === null ? [] : [['Revoked', time(key.revoked_at)] as const]),
          ...(replacement
            ? [
                [
                  'Replaced by',
                  <a href={url(base, `/console/keys/${replacement.id}`)}>
                    <code>{replacement.hint}</code>
                  </a>,
                ] as const,
              ]
            : []),
        ]}
      />
    </Section>
  )
}

const Rotate = ({ action }: { action: string }) => (
  <Confirm
    id="rotate"
    verb="Rotate key"
    question="Rotate this key?"
    consequence="The new key has the same scopes and is shown once. Update your apps before the old key expires."
    action={action}
    isPrimary
  >
    <Select
      name="grace"
      label="Old key expires"
      value="day"
      options={[
        { value: 'day', label: 'In 1 day' },
        { value: 'week', label: 'In 1 week' },
        { value: 'hour', label: 'In 1 hour' },
        { value: 'none', label: 'Immediately' },
      ]}
    />
  </Confirm>
)
