import type { Fields } from '../../../src/http/body.ts'
import { ENGINE_SCOPES, ENGINES, type Engine } from '../../../src/platform/engines.ts'
import type { ApiKey, IssuedKey } from '../../../src/platform/keys.ts'
import { Confirm, DangerZone } from '../confirm.tsx'
import { CurlBlock, type CurlRequest } from '../curl-block.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Facts } from '../facts.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import { Radios } from '../form/choices.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { Select } from '../form/select.tsx'
import { Id } from '../id.tsx'
import { PageHead } from '../page-head.tsx'
import { SecretPanel } from '../secret-panel.tsx'
import { Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { FilterChips } from '../tabs.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'

/** What an engine is for, where people choose one. */
const ABOUT: Record<Engine, { label: string; text: string }> = {
  gate: { label: 'Gate', text: 'People: sign-in, sessions, what they may do' },
  clockwork: { label: 'Clockwork', text: 'Calls to your URLs, by the clock' },
  passepartout: { label: 'Passepartout', text: 'Sign-in by messenger' },
  relay: { label: 'Relay', text: 'Events to those who subscribe' },
}

type Life = 'active' | 'ending' | 'ended'

const lifeOf = ({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey, now: number): Life => {
  if (revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now)) return 'ended'
  return expiresAt === null ? 'active' : 'ending'
}

const MARKS: Record<Life, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  ending: { tone: 'warn', word: 'being replaced' },
  ended: { tone: 'quiet', word: 'ended' },
}

/** What programs get in with. */
export const KeysPage = (page: {
  base: string
  keys: readonly ApiKey[]
  engine: Engine | undefined
  now: number
}) => {
  const { base, keys, engine, now } = page
  const shown = engine ? keys.filter((key) => key.engine === engine) : keys
  const living = keys.filter((key) => lifeOf(key, now) !== 'ended').length
  const href = (of?: Engine) => url(base, '/console/keys', { engine: of })
  return (
    <>
      <PageHead
        title="Keys"
        state={{ sentence: sentenceOn(keys, living, now) }}
        action={
          <LinkButton weight="primary" href={url(base, '/console/keys/new')}>
            New key
          </LinkButton>
        }
      />
      {keys.length > 0 && (
        <FilterChips
          label="Engines"
          tabs={[
            { label: 'All', href: href(), count: keys.length, isCurrent: !engine },
            ...ENGINES.map((of) => ({
              label: ABOUT[of].label,
              href: href(of),
              count: keys.filter((key) => key.engine === of).length,
              isCurrent: of === engine,
            })),
          ]}
        />
      )}
      <DataTable
        caption="Keys"
        columns={columns(now)}
        rows={shown}
        hrefOf={({ id }) => url(base, `/console/keys/${id}`)}
        idOf={({ id }) => id}
        empty={
          <EmptyState
            icon="keys"
            sentence={engine ? `No key of ${ABOUT[engine].label} yet.` : 'No key yet.'}
            next="A program shows a key with each request. A key is of one engine."
            action={
              <LinkButton weight="primary" href={url(base, '/console/keys/new', { engine })}>
                New key
              </LinkButton>
            }
          />
        }
      />
    </>
  )
}

function sentenceOn(keys: readonly ApiKey[], living: number, now: number): string {
  if (keys.length === 0) return 'Programs get in with keys, and there is none.'
  const ending = keys.filter((key) => lifeOf(key, now) === 'ending').length
  const others = keys.length - living
  return [
    `${living} ${living === 1 ? 'key works' : 'keys work'}`,
    ...(ending > 0 ? [`${ending} of them being replaced`] : []),
    ...(others > 0 ? [`${others} ended`] : []),
  ].join(', ')
}

const columns = (now: number): Column<ApiKey>[] => [
  { label: 'Secret', isMono: true, isWide: true, cell: ({ hint }) => hint },
  { label: 'Engine', cell: ({ engine }) => ABOUT[engine].label },
  { label: 'Data', cell: ({ environment }) => environment ?? 'live' },
  {
    label: 'State',
    narrow: 'corner',
    cell: (key) => <StatusMark {...MARKS[lifeOf(key, now)]} />,
  },
  {
    label: 'Last used',
    align: 'right',
    cell: ({ last_used_at: at }) =>
      at === null ? 'never' : <Time at={Date.parse(at)} now={now} />,
  },
  {
    label: 'Created',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]

const textIn = (fields: Fields | undefined, name: string): string | undefined => {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}

/** Chooses what a key is good for. */
export const NewKeyPage = (page: {
  base: string
  typed?: Fields
  errors?: readonly FormError[]
}) => {
  const messageAt = (name: string) => page.errors?.find((error) => error.name === name)?.message
  return (
    <>
      <PageHead title="New key" state={{ sentence: 'It is shown once, and works at once.' }} />
      <Form
        action={url(page.base, '/console/keys')}
        errors={page.errors}
        buttons={<Button weight="primary">Create key</Button>}
      >
        <Radios
          name="engine"
          label="Engine"
          value={textIn(page.typed, 'engine') ?? 'clockwork'}
          error={messageAt('engine')}
          options={ENGINES.map((value) => ({ value, ...ABOUT[value] }))}
        />
        <Select
          name="environment"
          label="Data"
          value={textIn(page.typed, 'environment') ?? 'live'}
          error={messageAt('environment')}
          help="Keys for test data send nothing to people. Clockwork has live data alone."
          options={[
            { value: 'live', label: 'Live' },
            { value: 'test', label: 'Test' },
          ]}
        />
        <Field
          name="scopes"
          label="Scopes"
          isMono
          isRequired={false}
          value={textIn(page.typed, 'scopes')}
          error={messageAt('scopes')}
          help={
            <>
              Left empty, all of its engine. {ENGINES.map(scopesInWords).join(' ')} Names of your
              own may stand beside them, for access tokens.
            </>
          }
        />
      </Form>
    </>
  )
}

const scopesInWords = (engine: Engine): string =>
  `${ABOUT[engine].label}: ${ENGINE_SCOPES[engine].join(' ')}.`

/** The only time that a key is shown. */
export const IssuedKeyPage = (page: { base: string; apiUrl: string; key: IssuedKey }) => (
  <>
    <PageHead title="Key created" state={{ tone: 'good', sentence: 'It works from now on.' }} />
    <SecretPanel
      title={`Key of ${ABOUT[page.key.engine].label}`}
      secret={page.key.key}
      doneHref={url(page.base, '/console/keys')}
      example={<CurlBlock title="Try it" {...firstRequest(page.apiUrl, page.key)} />}
    />
  </>
)

function firstRequest(apiUrl: string, { engine, key }: IssuedKey): CurlRequest {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  switch (engine) {
    case 'clockwork':
      return {
        url: `${apiUrl}/v1/clockwork/jobs`,
        headers,
        body: { name: 'hello', schedule: '* * * * *', url: 'https://example.com/hook' },
      }
    case 'relay':
      return {
        url: `${apiUrl}/v1/relay/messages`,
        headers,
        body: { event_type: 'order.paid', payload: { order: 42 } },
      }
    case 'gate':
      return {
        url: `${apiUrl}/v1/gate/identities`,
        headers,
        body: { schema_id: 'user', traits: { email: 'ada@example.com' } },
      }
    case 'passepartout':
      return { url: `${apiUrl}/v1/passepartout/login/start`, headers, body: {} }
  }
}

/** One key: what it may do, how it is used, and its end. */
export const KeyPage = (page: { base: string; key: ApiKey; now: number }) => {
  const { base, key, now } = page
  const life = lifeOf(key, now)
  const action = (verb: string) => url(base, `/console/keys/${key.id}/${verb}`)
  const time = (at: string | null) =>
    at === null ? 'never' : <Time at={Date.parse(at)} now={now} />
  return (
    <>
      <PageHead
        title={<code>{key.hint}</code>}
        state={{ tone: MARKS[life].tone, sentence: sentenceOnLife(key, life, now) }}
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Id', <Id id={key.id} what="key id" />],
            ['Engine', ABOUT[key.engine].label],
            ['Data', key.environment ?? 'live'],
            ['Scopes', <code>{key.scopes.join(' ')}</code>],
            ['Created', time(key.created_at)],
            ['Last used', time(key.last_used_at)],
            ...(key.revoked_at === null ? [] : [['Revoked', time(key.revoked_at)] as const]),
          ]}
        />
      </Section>
      {life !== 'ended' && (
        <DangerZone
          items={[
            ...(life === 'active'
              ? [
                  {
                    title: 'Replace it',
                    text: 'A new key with the same rights; this one works on for a while.',
                    control: (
                      <Confirm
                        id="rotate"
                        verb="Replace key"
                        question="Replace this key?"
                        consequence="The new one is shown once. Give it to your programs before the old one ends."
                        action={action('rotate')}
                        isHarmless
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
                    ),
                  },
                ]
              : []),
            {
              title: 'Revoke it',
              text: 'Requests with it are refused at once. This cannot be taken back.',
              control: (
                <Confirm
                  id="revoke"
                  verb="Revoke key"
                  question="Revoke this key?"
                  consequence="Whatever program uses it is locked out at once, and access tokens made with it end."
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

function sentenceOnLife({ expires_at: expiresAt }: ApiKey, life: Life, now: number) {
  if (life === 'active') return 'Works.'
  if (life === 'ended') return 'Works no more.'
  return (
    <>
      Replaced; works on until it ends <Time at={Date.parse(expiresAt ?? '')} now={now} />.
    </>
  )
}
