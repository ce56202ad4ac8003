import { STATUS_CODES } from 'node:http'
import type { ApiContent, ApiOperation, JsonSchema } from '../../src/http/api-document.ts'
import { CodeBlock } from '../ui/code.tsx'
import { JsonView } from '../ui/json.tsx'
import type { Entry } from './entries.ts'
import { Fields, fieldsOf } from './fields.tsx'
import { Method, Prose } from './prose.tsx'
import { type ExampleRequest, LANGUAGES } from './snippets.ts'
import { TryIt } from './try-it.tsx'

/** An operation: what it takes and returns, and beside it a request, its response, and a form to try it. */
export const Operation = ({ server, ...entry }: Entry & { server: string }) => {
  const { anchor, operation, title, method, path } = entry
  const request = exampleRequest(server, entry)
  return (
    <article id={anchor}>
      <div>
        <h3>
          <a href={`#${anchor}`}>{title}</a>
        </h3>
        <p class="endpoint">
          <Method name={method} /> <code>{path}</code>
        </p>
        <Scopes {...operation} />
        {operation.description && (
          <p>
            <Prose text={operation.description} />
          </p>
        )}
        <Taken {...operation} />
        <Responses responses={operation.responses ?? {}} />
      </div>
      <div class="examples">
        {LANGUAGES.map(({ name, title, write }) => (
          <div data-language={name}>
            <CodeBlock title={title} what="request">
              {write(request)}
            </CodeBlock>
          </div>
        ))}
        {request.credential !== 'session' && <TryIt {...entry} />}
        <ResponseExample {...operation} />
      </div>
    </article>
  )
}

const Scopes = ({ security = [] }: ApiOperation) => {
  const scopes = security.flatMap(({ apiKey = [] }) => apiKey)
  if (scopes.length === 0) return null
  return (
    <p class="hint">
      Scope: <Prose text={scopes.map((scope) => `\`${scope}\``).join(' or ')} />
    </p>
  )
}

const Taken = ({ parameters = [], requestBody }: ApiOperation) => {
  const rows = parameters.map(({ name, required = false, schema = {} }) => ({
    name,
    schema,
    isRequired: required,
  }))
  const body = fieldsOf(requestBody?.content?.['application/json']?.schema ?? {})
  return (
    <>
      {rows.length > 0 && <Fields title="Parameters" rows={rows} />}
      {body.length > 0 && <Fields title="Body" rows={body} />}
    </>
  )
}

type Answers = NonNullable<ApiOperation['responses']>

/** Each successful response with its fields, then all errors in one place. */
const Responses = ({ responses }: { responses: Answers }) => {
  const all = Object.entries(responses)
  const errors = all.filter(([status]) => /^[45]/.test(status))
  return (
    <div class="responses">
      <h4>Responses</h4>
      {all
        .filter((one) => !errors.includes(one))
        .map(([status, answer]) => (
          <Success status={status} meaning={meaningOf(status, answer)} {...answer} />
        ))}
      {errors.length > 0 && (
        <details>
          <summary>
            Errors <span class="hint">{errors.map(([status]) => status).join(', ')}</span>
          </summary>
          <dl>
            {errors.map(([status, answer]) => (
              <div>
                <dt>
                  <code>{status}</code>
                </dt>
                <dd>
                  <Prose text={meaningOf(status, answer)} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

const Success = ({
  status,
  meaning,
  content,
}: Answers[string] & { status: string; meaning: string }) => {
  const schema = contentOf(content)?.schema
  const rows = fieldsOf(schema?.items ?? schema ?? {})
  const line = (
    <>
      <code class="good">{status}</code> <Prose text={meaning} />
    </>
  )
  if (rows.length === 0) return <p>{line}</p>
  return (
    <details>
      <summary>{line}</summary>
      <Fields rows={rows.map(({ name, schema }) => ({ name, schema }))} />
    </details>
  )
}

const contentOf = (content: Record<string, ApiContent> = {}): ApiContent | undefined =>
  Object.values(content)[0]

/** Description of a response. The name of its status stands in for the generator's placeholder. */
function meaningOf(status: string, { content, description = '' }: Answers[string]): string {
  const schema: JsonSchema | undefined = contentOf(content)?.schema
  if (schema?.description) return schema.description
  if (schema?.type === 'array') return 'A list of objects'
  if (schema?.properties) return 'An object'
  return description.startsWith('Response for status') ? (STATUS_CODES[status] ?? '') : description
}

const ResponseExample = ({ responses = {} }: ApiOperation) => {
  const [status, answer] = Object.entries(responses).find(([status]) => status[0] === '2') ?? []
  const example = answer?.content?.['application/json']?.example
  return example === undefined ? null : <JsonView title={`Response ${status}`} value={example} />
}

function exampleRequest(server: string, { method, path, operation }: Entry): ExampleRequest {
  const { parameters = [], security = [], requestBody, responses = {} } = operation
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name, example }): [string, string] => [name, `${example}`])
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name) => `${parameters.find((one) => one.name === name)?.example ?? name}`,
  )
  const takes = (scheme: string) => security.some((one) => scheme in one)
  return {
    method: method.toUpperCase(),
    url: `${server}${filled}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}`,
    credential: takes('apiKey') ? 'key' : takes('session') ? 'session' : undefined,
    body: requestBody?.content?.['application/json']?.example,
    isAnswered: Object.entries(responses).some(
      ([status, { content }]) => status[0] === '2' && content?.['application/json'],
    ),
  }
}
