import { Meter } from '../../../../views/ui/charts/meter.tsx'
import { Confirm, DangerZone } from '../../../../views/ui/confirm.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { Countdown, Time, useTimes } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { FoundKey } from '../../../platform/keys.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { good, page, shown, usePage } from '../../page.tsx'
import { GracePeriod, gracePeriodIn } from '../grace-period.tsx'
import { type KeyState, STATE_BADGES, stateOf } from './keys.tsx'
import { IssuedKeyPage } from './new-key.tsx'

interface KeyView {
  found: FoundKey
  /** The key that replaces this one. */
  replacement: FoundKey | undefined
}

/** One API key: scopes, use, rotation and revocation. */
export const keyPage = page({
  path: '/keys/:id',
  section: 'keys',
  right: 'keys',

  load({ keys, tenantId, params }): KeyView {
    const found = keys.find(tenantId, params.id)
    const { replaced_by: replacement } = found
    return {
      found,
      replacement: replacement === null ? undefined : keys.find(tenantId, replacement),
    }
  },

  title: ({ found }) => found.hint,

  view(view) {
    const { found: key } = view
    const { href, now } = usePage()
    const state = stateOf(key, now)
    return (
      <>
        <PageHead
          title={<code>{key.hint}</code>}
          state={{ tone: STATE_BADGES[state].tone, sentence: sentenceOn(key, state) }}
          action={state === 'active' && <Rotation />}
          aside={
            <LinkButton href={href('/audit', { object: `key:${key.id}` })}>Audit log</LinkButton>
          }
        />
        {state === 'ending' && <ExpiryNotice {...view} />}
        <About {...view} />
        {state !== 'ended' && <Revocation {...key} />}
      </>
    )
  },

  actions: {
    rotate: {
      right: 'keys',
      /** Shows the key in the response to the form, because it is not stored. */
      async run({ keys, tenantId, actor, params, fields, now }) {
        const { hint } = keys.find(tenantId, params.id)
        const graceMs = gracePeriodIn(fields)
        const issued = await keys.rotate(actor, params.id, graceMs)
        const replaced = { hint, endsAt: now + graceMs }
        return shown('New API key', <IssuedKeyPage issued={issued} replaced={replaced} />)
      },
    },
    revoke: {
      right: 'keys',
      flash: good('API key revoked.'),
      async run({ keys, tenantId, actor, params }) {
        const { id } = keys.find(tenantId, params.id)
        await keys.revoke(actor, id)
        return { to: '/keys', query: { changed: id } }
      },
    },
  },
})

const Revocation = (key: FoundKey) => (
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
            consequence={`${lastUse(key)} Apps that use this key lose access immediately, and access tokens created with it stop working.`}
            action={usePage().actionHref('revoke')}
          />
        ),
      },
    ]}
  />
)

function sentenceOn(key: FoundKey, state: KeyState) {
  const used =
    key.last_used_at === null ? (
      'never used'
    ) : (
      <>
        last used <Time at={Date.parse(key.last_used_at)} />
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
      Rotated; expires in <Countdown until={Date.parse(key.expires_at ?? '')} />; {used}
    </>
  )
}

const lastUse = ({ last_used_at: at }: FoundKey): string =>
  at === null ? 'Never used.' : `Last used ${useTimes().minute(Date.parse(at))}.`

/** Progress of a rotation: how long both keys work, and whether the new one is in use. */
function ExpiryNotice({ found: key, replacement }: KeyView) {
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

function About({ found: key, replacement }: KeyView) {
  const { href } = usePage()
  const time = (at: string | null) => (at === null ? 'Never' : <Time at={Date.parse(at)} />)
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

const Rotation = () => (
  <Confirm
    id="rotate"
    verb="Rotate key"
    question="Rotate this key?"
    consequence="The new key has the same scopes and is shown once. Update your apps before the old key expires."
    action={usePage().actionHref('rotate')}
    isPrimary
  >
    <GracePeriod label="Old key expires" />
  </Confirm>
)
