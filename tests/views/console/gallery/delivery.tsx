import { Attempts } from '../../../../views/console/charts/attempts.tsx'
import { TimingBar } from '../../../../views/console/charts/timing-bar.tsx'
import { CodeBlock } from '../../../../views/console/code-block.tsx'
import { CurlBlock } from '../../../../views/console/curl-block.tsx'
import { Facts } from '../../../../views/console/facts.tsx'
import { ActionButton, LinkButton } from '../../../../views/console/form/button.tsx'
import { Icon } from '../../../../views/console/icons.tsx'
import { Id } from '../../../../views/console/id.tsx'
import { JsonView } from '../../../../views/console/json-view.tsx'
import { PageHead } from '../../../../views/console/page-head.tsx'
import { Columns, Section } from '../../../../views/console/section.tsx'
import { Time } from '../../../../views/console/time.tsx'
import { framed, MINUTE, NOW, SECOND } from './fixture.tsx'

const DELIVERY = '0192f3a1-5b7c-7e44-8f10-9d2c41b7c41b'
const MESSAGE = '0192f3a1-5b70-7a01-b2c3-6d5e4f3a2b1c'

const PAYLOAD = {
  type: 'user.updated',
  timestamp: '2026-11-22T09:14:02.118Z',
  data: {
    id: '0192e771-3f0a-7c55-8a41-20b9d8c7e6f5',
    email: 'mette@fjord.example',
    display_name: 'Mette Sørensen',
    locale: 'da',
    verified: true,
    logins: 42,
  },
}

/** A delivery: request, response and next attempt. */
export const delivery = () =>
  framed(
    {
      title: 'Delivery',
      active: 'deliveries',
      environment: 'test',
      crumbs: [
        { label: 'Webhooks', href: '/console/endpoints' },
        { label: 'Deliveries', href: '/console/deliveries' },
        { label: 'user.updated' },
      ],
      here: `/console/deliveries/${DELIVERY}`,
    },
    <>
      <PageHead
        title="user.updated to crm.nordlicht.example"
        state={{
          tone: 'bad',
          sentence: (
            <>
              Attempt 3 failed with status 503 after 1.02 s. The next attempt is{' '}
              <Time at={NOW + 4 * MINUTE + 31 * SECOND} now={NOW} />, with up to 7 more within 3
              days.
            </>
          ),
        }}
        aside={<LinkButton href="/console/endpoints/1">Endpoint</LinkButton>}
        action={
          <ActionButton weight="primary" action={`/console/deliveries/${DELIVERY}/resend`}>
            <Icon name="again" />
            Retry
          </ActionButton>
        }
      />
      <Columns>
        <Section id="facts" title="Delivery" isCard>
          <Facts
            facts={[
              ['ID', <Id id={DELIVERY} />],
              ['Message', <Id id={MESSAGE} href={`/console/messages/${MESSAGE}`} />],
              ['Endpoint', <a href="/console/endpoints/1">crm.nordlicht.example</a>],
              ['Created', <Time at={NOW - 12 * MINUTE - 28 * SECOND} now={NOW} />],
              ['Signature', 'whsec, version 1'],
            ]}
          />
        </Section>
        <Section id="attempts" title="Attempts" isCard>
          <Attempts
            now={NOW}
            attempts={[
              {
                tone: 'bad',
                outcome: '503 Service Unavailable',
                at: NOW - 12 * MINUTE,
                took: 1213,
                href: '?attempt=1',
              },
              {
                tone: 'bad',
                outcome: 'No response: connection reset',
                at: NOW - 11 * MINUTE,
                took: 84,
                href: '?attempt=2',
              },
              {
                tone: 'bad',
                outcome: '503 Service Unavailable',
                at: NOW - 2 * MINUTE,
                took: 1020,
                href: '?attempt=3',
                isSelected: true,
              },
              {
                tone: 'quiet',
                outcome: 'Planned',
                at: NOW + 4 * MINUTE + 31 * SECOND,
                isPlanned: true,
              },
            ]}
          />
        </Section>
      </Columns>
      <Section id="timing" title="Timing" isCard>
        <TimingBar timings={{ dns: 12, connect: 31, tls: 58, wait: 911, read: 8 }} />
      </Section>
      <Columns>
        <Section id="request" title="Request">
          <div class="stack">
            <JsonView title="Body" value={PAYLOAD} />
            <details class="fold">
              <summary>
                Headers <span class="hint">6</span>
              </summary>
              <CodeBlock title="Headers">
                {
                  'content-type: application/json\nuser-agent: Gatehouse/0.1\nwebhook-id: 0192f3a1-5b70-7a01-b2c3-6d5e4f3a2b1c\nwebhook-timestamp: 1795339442\nwebhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=\ncontent-length: 214'
                }
              </CodeBlock>
            </details>
          </div>
        </Section>
        <Section id="response" title="Response">
          <div class="stack">
            <CodeBlock title="503 Service Unavailable" wraps>
              {
                '<html>\n<head><title>503 Service Temporarily Unavailable</title></head>\n<body>\n<center><h1>503 Service Temporarily Unavailable</h1></center>\n<hr><center>nginx</center>\n</body>\n</html>'
              }
            </CodeBlock>
            <details class="fold">
              <summary>
                Headers <span class="hint">4</span>
              </summary>
              <CodeBlock title="Headers">{'server: nginx\nretry-after: 120'}</CodeBlock>
            </details>
          </div>
        </Section>
      </Columns>
      <Section id="curl" title="View as curl" note="Signed now, valid for 5 minutes">
        <CurlBlock
          url="https://crm.nordlicht.example/hooks/gatehouse"
          headers={{
            'content-type': 'application/json',
            'webhook-id': MESSAGE,
            'webhook-timestamp': '1795339590',
            'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
          }}
          body={PAYLOAD}
        />
      </Section>
    </>,
  )
