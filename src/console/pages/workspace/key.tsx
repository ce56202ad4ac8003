import { Meter } from '../../../../views/ui/charts/meter.tsx'
import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { LongText, shorten, Text } from '../../../../views/ui/text.tsx'
import { Time, useTimes } from '../../../../views/ui/time.tsx'
import { capitalized, counted } from '../../../../views/ui/words.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { type ApiKey, type KeyState, stateOf } from '../../../platform/keys/index.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { good, page, shown, usePage } from '../../page.tsx'
import { GracePeriod, gracePeriodIn } from '../grace-period.tsx'
import { IssuedKeyPage } from './issued-key.tsx'
import { type KeyOwner, OF_TENANT } from './key-owner.ts'
import { canExpire, creatorOf, labelOf, STATE_BADGES } from './keys.tsx'

interface KeyView {
  found: ApiKey
  /** The key that replaces this one. */
  replacement: ApiKey | undefined
  names: ReadonlyMap<string, string>
}

/** One API key: rights, use, rotation and revocation. */
export const keyPageOf = ({ right, idIn, namesFor }: KeyOwner) =>
  page({
    path: '/keys/:id',
    section: 'keys',
    right,

    load(context): KeyView {
      const { keys, params } = context
      const owner = idIn(context)
      const found = keys.find(owner, params.id)
      const { replaced_by: replacement } = found
      return {
        found,
        replacement: replacement === null ? undefined : keys.find(owner, replacement),
        names: namesFor(context, [found]),
      }
    },

    title: ({ found }) => shorten(labelOf(found), 60),

    view(view) {
      const { found: key } = view
      const { href, now } = usePage()
      const state = stateOf(key, now)
      return (
        <>
          <PageHead
            title={
              key.name === null ? <code>{key.hint}</code> : <Text text={key.name} limit={80} />
            }
            state={{ tone: STATE_BADGES[state].tone, sentence: sentenceOn(key, state) }}
            action={canExpire(key, now) && <Rotation {...key} />}
            aside={
              <>
                {key.tenant_id !== null && (
                  <LinkButton href={href('/audit', { object: `key:${key.id}` })}>
                    Audit log
                  </LinkButton>
                )}
                <LinkButton href={href(`/keys/${key.id}/edit`)}>Edit</LinkButton>
              </>
            }
          />
          {state === 'rotated' && <RotationProgress {...view} />}
          <About {...view} />
          {(state === 'rotated' || canExpire(key, now)) && <Revocation {...key} />}
        </>
      )
    },

    actions: {
      rotate: {
        right,
        /** Shows the key in the response to the form, because it is not stored. */
        async run(context) {
          const { keys, actor, params, fields, now } = context
          const owner = idIn(context)
          const old = keys.find(owner, params.id)
          const issued = await keys.rotate(actor, old.id, gracePeriodIn(fields))
          const { expires_at: end } = keys.find(owner, old.id)
          const replaced = { label: old.hint, endsAt: end === null ? now : Date.parse(end) }
          return shown('New API key', <IssuedKeyPage issued={issued} replaced={replaced} />)
        },
      },
      revoke: {
        right,
        flash: good('API key revoked.'),
        async run(context) {
          const { keys, actor, params } = context
          const { id } = keys.find(idIn(context), params.id)
          await keys.revoke(actor, id)
          return { to: '/keys', query: { changed: id } }
        },
      },
    },
  })

export const keyPage = keyPageOf(OF_TENANT)

const Revocation = (key: ApiKey) => (
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
                Revoke <Text text={labelOf(key)} limit={80} />?
              </>
            }
            consequence={`${lastUse(key)} Apps that use this key lose access immediately, and access tokens created with it stop working.`}
            action={usePage().actionHref('revoke')}
          />
        ),
      },
    ]}
  />
)

function sentenceOn(key: ApiKey, state: KeyState) {
  const used =
    key.last_used_at === null ? (
      'never used'
    ) : (
      <>
        last used <Time at={Date.parse(key.last_used_at)} />
      </>
    )
  const { word } = STATE_BADGES[state]
  if (state === 'expiring' || state === 'rotated')
    return (
      <>
        {state === 'rotated' ? 'Rotated; expires' : 'Expires'}{' '}
        <Time at={Date.parse(key.expires_at ?? '')} />; {used}
      </>
    )
  return (
    <>
      {capitalized(word)}; {used}
    </>
  )
}

const lastUse = ({ last_used_at: at }: ApiKey): string =>
  at === null ? 'Never used.' : `Last used ${useTimes().minute(Date.parse(at))}.`

/** Progress of a rotation: how long both keys work, and whether the new one is in use. */
function RotationProgress({ found: key, replacement }: KeyView) {
  const { href, now } = usePage()
  const endsAt = Date.parse(key.expires_at ?? '')
  const begunAt = Date.parse(replacement?.created_at ?? key.created_at)
  return (
    <Section id="ending" title="Rotation in progress" isCard>
      <Meter
        label="Both keys work"
        tone="warn"
        value={now - begunAt}
        max={endsAt - begunAt}
        amount={`Until ${useTimes().minute(endsAt)}`}
      />
      {replacement && (
        <p class="hint">
          The new key{' '}
          <a href={href(`/keys/${replacement.id}`)}>
            <code>{replacement.hint}</code>
          </a>
          {replacement.last_used_at === null ? ' has not been used yet.' : ' is in use.'}
        </p>
      )}
    </Section>
  )
}

function About({ found: key, replacement, names }: KeyView) {
  const { href, now } = usePage()
  const time = (at: string | null) => (at === null ? 'Never' : <Time at={Date.parse(at)} />)
  return (
    <Section id="about" title="About" isCard>
      <Facts
        facts={[
          ...(key.note === null ? [] : [['Note', <LongText text={key.note} />] as const]),
          ['ID', <Id id={key.id} what="key ID" />],
          ['Secret', <code>{key.hint}</code>],
          ...(key.tenant_id === null ? [] : engineFacts(key)),
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
          ['Created by', creatorOf(key, names)],
          ['Last used', time(key.last_used_at)],
          [stateOf(key, now) === 'expired' ? 'Expired' : 'Expires', time(key.expires_at)],
          ...(key.revoked_at === null ? [] : [['Revoked', time(key.revoked_at)] as const]),
          ...(replacement
            ? [
                [
                  'Replaced by',
                  <a href={href(`/keys/${replacement.id}`)}>
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

const engineFacts = ({ engines, environment }: ApiKey): Fact[] => [
  ['Engines', engines.map((engine) => ENGINE_WORDS[engine].label).join(', ')],
  ['Environment', capitalized(environment ?? 'live')],
]

const Rotation = (key: ApiKey) => (
  <Confirm
    id="rotate"
    verb="Rotate key"
    question="Rotate this key?"
    consequence={`The new key has the same name and scopes, and is shown once. ${expiryOfNew(key)}Update your apps before the old key expires.`}
    action={usePage().actionHref('rotate')}
    isPrimary
  >
    <GracePeriod label="Old key expires" />
  </Confirm>
)

function expiryOfNew({ lifetime_ms: lifetime, expires_at: end }: ApiKey): string {
  if (lifetime !== null) return `It expires in ${counted(Math.round(lifetime / DAY_MS), 'day')}. `
  return end === null ? '' : `It expires ${useTimes().minute(Date.parse(end))}, like the old one. `
}
