import type { FoundKey } from '../../../src/platform/keys.ts'
import { Meter } from '../charts/meter.tsx'
import { Confirm, DangerZone } from '../confirm.tsx'
import { Facts } from '../facts.tsx'
import { LinkButton } from '../form/button.tsx'
import { Select } from '../form/select.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { Countdown, Time, utc } from '../time.tsx'
import { url } from '../url.ts'
import { ENGINE_WORDS, LIFE_MARKS, type Life, lifeOf } from './key-words.ts'

interface Page {
  base: string
  key: FoundKey
  /** What took over from it. */
  replacement: FoundKey | undefined
  now: number
}

/** One key: what it may do, how it is used, and its end. */
export const KeyPage = (page: Page) => {
  const { base, key, now } = page
  const life = lifeOf(key, now)
  const action = (verb: string) => url(base, `/console/keys/${key.id}/${verb}`)
  return (
    <>
      <PageHead
        title={<code>{key.hint}</code>}
        state={{ tone: LIFE_MARKS[life].tone, sentence: sentenceOn(page, life) }}
        action={life === 'active' && <Replace action={action('rotate')} />}
        aside={
          <LinkButton href={url(base, '/console/audit', { object: `key:${key.id}` })}>
            Audit
          </LinkButton>
        }
      />
      {life === 'ending' && <Ending {...page} />}
      <About {...page} />
      {life !== 'ended' && (
        <DangerZone
          items={[
            {
              title: 'Revoke it',
              text: 'Requests with it are refused at once. This cannot be taken back.',
              control: (
                <Confirm
                  id="revoke"
                  verb="Revoke key"
                  question={
                    <>
                      Revoke <code>{key.hint}</code>?
                    </>
                  }
                  consequence={`${lastUse(page)} Whatever program uses it is locked out at once, and access tokens made with it end.`}
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

function sentenceOn({ key, now }: Page, life: Life) {
  const used =
    key.last_used_at === null ? (
      'never used yet'
    ) : (
      <>
        last used <Time at={Date.parse(key.last_used_at)} now={now} />
      </>
    )
  if (life === 'active') return <>Works; {used}.</>
  if (life === 'ended') return <>Works no more; {used}.</>
  return (
    <>
      Replaced; works on for <Countdown until={Date.parse(key.expires_at ?? '')} now={now} />;{' '}
      {used}.
    </>
  )
}

const lastUse = ({ key }: Page): string =>
  key.last_used_at === null
    ? 'It was never used.'
    : `It was last used at ${utc(Date.parse(key.last_used_at))}.`

/** How far the time has come in which both keys work, and whether the old one is still in use. */
const Ending = ({ base, key, replacement, now }: Page) => {
  const endsAt = Date.parse(key.expires_at ?? '')
  const begunAt = Date.parse(replacement?.created_at ?? key.created_at)
  return (
    <Section id="ending" title="On its way out" isCard>
      <Meter
        label="Both keys work"
        tone="warn"
        value={now - begunAt}
        max={endsAt - begunAt}
        amount={`until ${utc(endsAt)}`}
      />
      {replacement && (
        <p class="hint">
          Its place takes{' '}
          <a href={url(base, `/console/keys/${replacement.id}`)}>
            <code>{replacement.hint}</code>
          </a>
          {replacement.last_used_at === null
            ? ', which no program has used yet.'
            : ', which is in use.'}
        </p>
      )}
    </Section>
  )
}

const About = ({ base, key, replacement, now }: Page) => {
  const time = (at: string | null) =>
    at === null ? 'never' : <Time at={Date.parse(at)} now={now} />
  return (
    <Section id="about" title="About" isCard>
      <Facts
        facts={[
          ['Id', <Id id={key.id} what="key id" />],
          ['Engine', ENGINE_WORDS[key.engine].label],
          ['Data', key.environment ?? 'live'],
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

const Replace = ({ action }: { action: string }) => (
  <Confirm
    id="rotate"
    verb="Replace key"
    question="Replace this key?"
    consequence="The new one has the same rights and is shown once. Give it to your programs before the old one ends."
    action={action}
    isPrimary
  >
    <Select
      name="grace"
      label="The old one works on for"
      value="day"
      options={[
        { value: 'day', label: 'a day' },
        { value: 'week', label: 'a week' },
        { value: 'hour', label: 'an hour' },
        { value: 'none', label: 'no time at all' },
      ]}
    />
  </Confirm>
)
