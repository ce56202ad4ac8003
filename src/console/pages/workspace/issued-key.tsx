import { CurlBlock, type CurlRequest } from '../../../../views/ui/code.tsx'
import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { listed } from '../../../../views/ui/words.ts'
import type { EngineScope, KeyEngine } from '../../../platform/engines.ts'
import type { IssuedKey } from '../../../platform/keys/index.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { usePage } from '../../page.tsx'

/** Shows a new API key once. */
export function IssuedKeyPage({
  issued: key,
  replaced,
}: {
  issued: IssuedKey
  /** The rotated key, and when it expires. */
  replaced?: { label: string; endsAt: number }
}) {
  const { href, baseUrl } = usePage()
  return (
    <>
      <PageHead
        title={replaced ? 'API key rotated' : 'API key created'}
        state={{
          tone: 'good',
          sentence: (
            <>
              {replaced ? 'The new key works now.' : 'The key works now.'}
              <EndOf {...key} />
              {replaced && (
                <>
                  {' '}
                  The old one, {replaced.label}, expires <Time at={replaced.endsAt} />.
                </>
              )}
            </>
          ),
        }}
      />
      <SecretPanel
        title={titleOf(key)}
        what="key"
        secret={key.key}
        doneHref={href('/keys')}
        example={
          <>
            {requestsOf(key).map(([title, request]) => (
              <CurlBlock title={title} {...withKey(baseUrl(), key, request)} />
            ))}
            <p>
              <a
                href={new URL(`${baseUrl()}/reference/${key.engines[0]}`).pathname}
                target="_blank"
                rel="noopener"
                data-offers-key={key.key}
              >
                Try it in the API reference
              </a>
            </p>
          </>
        }
      />
    </>
  )
}

function titleOf({ engines, environment }: IssuedKey): string {
  const labels = listed(engines.map((engine) => ENGINE_WORDS[engine].label))
  return engines.includes('installation') ? labels : `${labels}, ${environment ?? 'live'}`
}

const EndOf = ({ expires_at: at }: IssuedKey) =>
  at === null ? null : (
    <>
      {' '}
      It expires <Time at={Date.parse(at)} />.
    </>
  )

interface Example {
  title: string
  path: string
  body?: unknown
}

/** Example requests by scope. The page shows the first read and the first write that the key allows. */
const EXAMPLES: Record<KeyEngine, { reads: Examples; writes: Examples }> = {
  gate: {
    reads: [
      ['identities:read', { title: 'List users', path: '/v1/gate/identities' }],
      ['settings:read', { title: 'Get the policies', path: '/v1/gate/settings/policies' }],
      ['authorize', { title: 'List decisions', path: '/v1/gate/authorize/decisions' }],
    ],
    writes: [
      [
        'identities:write',
        {
          title: 'Create a user',
          path: '/v1/gate/identities',
          body: { schema_id: 'user', traits: { email: 'ada@example.com' } },
        },
      ],
    ],
  },
  clockwork: {
    reads: [['clockwork', { title: 'List jobs', path: '/v1/clockwork/jobs' }]],
    writes: [
      [
        'clockwork',
        {
          title: 'Create a job',
          path: '/v1/clockwork/jobs',
          body: { name: 'hello', schedule: '* * * * *', url: 'https://example.com/hook' },
        },
      ],
    ],
  },
  passepartout: {
    reads: [],
    writes: [
      ['passepartout', { title: 'Start a login', path: '/v1/passepartout/login/start', body: {} }],
    ],
  },
  relay: {
    reads: [
      ['relay:read', { title: 'List messages', path: '/v1/relay/messages' }],
      ['relay:endpoints', { title: 'List endpoints', path: '/v1/relay/endpoints' }],
    ],
    writes: [
      [
        'relay:send',
        {
          title: 'Send a message',
          path: '/v1/relay/messages',
          body: { event_type: 'order.paid', payload: { order: 42 } },
        },
      ],
    ],
  },
  notifications: {
    reads: [
      ['notifications:read', { title: 'List alerts', path: '/v1/notifications/alerts' }],
      ['notifications:write', { title: 'List alerts', path: '/v1/notifications/alerts' }],
    ],
    writes: [
      [
        'notifications:write',
        {
          title: 'Create a channel',
          path: '/v1/notifications/channels',
          body: { type: 'webhook', settings: { url: 'https://example.com/alerts' } },
        },
      ],
    ],
  },
  manifest: {
    reads: [
      ['manifest:read', { title: 'Export the configuration', path: '/v1/manifest' }],
      ['manifest:write', { title: 'Export the configuration', path: '/v1/manifest' }],
    ],
    writes: [
      [
        'manifest:write',
        {
          title: 'Apply a manifest',
          path: '/v1/manifest/apply',
          body: {
            jobs: [{ name: 'hello', schedule: '* * * * *', url: 'https://example.com/hook' }],
          },
        },
      ],
    ],
  },
  installation: {
    reads: [
      ['installation:read', { title: 'List tenants', path: '/v1/installation/tenants' }],
      ['installation:write', { title: 'List tenants', path: '/v1/installation/tenants' }],
    ],
    writes: [
      [
        'installation:write',
        { title: 'Create a tenant', path: '/v1/installation/tenants', body: { name: 'Acme' } },
      ],
    ],
  },
}

type Examples = readonly (readonly [EngineScope, Example])[]

/** A read and a write; the first of them for each engine if the key has several. */
function requestsOf({ engines, scopes }: IssuedKey): [string, Example][] {
  return engines.flatMap((engine) => {
    const { reads, writes } = EXAMPLES[engine]
    return [reads, writes]
      .flatMap((examples) => examples.find(([scope]) => scopes.includes(scope))?.[1] ?? [])
      .slice(0, engines.length === 1 ? 2 : 1)
      .map((example): [string, Example] => [example.title, example])
  })
}

const withKey = (apiUrl: string, { key }: IssuedKey, { path, body }: Example): CurlRequest => ({
  url: `${apiUrl}${path}`,
  headers: {
    Authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  },
  body,
})
