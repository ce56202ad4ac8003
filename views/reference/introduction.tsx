import type { ComponentChildren } from 'preact'
import type { ApiDocument, ApiOperation } from '../../src/http/api-document.ts'
import { CodeBlock } from '../ui/code.tsx'
import { JsonBlock } from '../ui/json.tsx'

/** What all operations have in common. */
export const Introduction = ({ servers, paths }: ApiDocument) => (
  <div class="introduction">
    <Topic title="Base URL">
      <p>
        Send requests to <code>{servers[0]?.url}</code>. Bodies and responses are JSON. Timestamps
        are in UTC: <code>2026-01-31T12:00:00.000Z</code>.
      </p>
    </Topic>
    <Topic title="Authentication">
      <p>
        Send an API key with each request. An operation names the scope that the key needs. A key
        belongs to one tenant, and reads and changes nothing of other tenants.
      </p>
      <CodeBlock title="Header">Authorization: Bearer $GATEHOUSE_KEY</CodeBlock>
    </Topic>
    <Topic title="Errors">
      <p>
        A response with status 4xx or 5xx says what is wrong: the message names the field, if there
        is one, and the rule.
      </p>
      <ErrorExample title="Users and jobs" operation={paths['/v1/clockwork/jobs']?.post} />
      <ErrorExample
        title="Webhooks, messenger login, access tokens and authorization"
        operation={paths['/v1/relay/messages']?.post}
      />
    </Topic>
    <Topic title="Rate limits">
      <p>
        Each response says how many requests the key has left (<code>r</code>) and when all are
        available again (<code>t</code>, in seconds), and the same for the month if the plan of the
        tenant has a limit.
      </p>
      <CodeBlock title="Headers">
        {'RateLimit-Policy: "burst";q=6000;w=60\nRateLimit: "burst";r=5999;t=1'}
      </CodeBlock>
      <p>
        After 429 and 503, wait for the seconds in <code>Retry-After</code>, then send the request
        again.
      </p>
    </Topic>
    <Topic title="Pagination">
      <p>
        Long lists come in pages of <code>limit</code> items, 20 by default and 100 at most. Pass{' '}
        <code>next_cursor</code> as <code>cursor</code> until <code>has_more</code> is false.
      </p>
    </Topic>
    <Topic title="Polling">
      <p>
        A list has an <code>ETag</code>. Send it as <code>If-None-Match</code>: the response is 304
        without a body until the list changes.
      </p>
    </Topic>
    <Topic title="Idempotency">
      <p>
        If the response to an event is lost, send it again with the same{' '}
        <code>idempotency_key</code> within 24 hours: you get the first event, and nothing is
        delivered twice. Other operations that create something create it again.
      </p>
    </Topic>
    <Topic title="Request IDs">
      <p>
        Each response has an <code>X-Request-Id</code>. The log of the server has the same ID.
      </p>
    </Topic>
  </div>
)

const Topic = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
)

const ErrorExample = (view: { title: string; operation: ApiOperation | undefined }) => (
  <JsonBlock
    title={view.title}
    wraps
    value={view.operation?.responses?.['400']?.content?.['application/json']?.example}
  />
)
