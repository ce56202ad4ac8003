import type { ApiOperation, ApiParameter } from '../../src/http/api-document.ts'
import { CodeBlock } from '../ui/code.tsx'
import { JsonBlock } from '../ui/json.tsx'
import type { Entry } from './entries.ts'
import { exampleRequest } from './example-request.ts'
import { Fields, fieldsOf } from './fields.tsx'
import { Method, Path, Prose } from './prose.tsx'
import type { ShownAt } from './repeated-objects.ts'
import { Responses } from './responses.tsx'
import { objectsIn, ruleOf, typeOf } from './schema.ts'
import { LANGUAGES } from './snippets.ts'
import { TryIt } from './try-it.tsx'

/** An operation: what it takes and returns, and beside it a request, its response, and a form to try it. */
export const Operation = (view: { entry: Entry; server: string; shownAt: ShownAt }) => {
  const { entry, server, shownAt } = view
  const { anchor, operation, title, method, path } = entry
  const request = exampleRequest(server, entry)
  return (
    <article id={anchor}>
      <div>
        <h3>
          <a href={`#${anchor}`}>{title}</a>
        </h3>
        <p class="endpoint">
          <Method name={method} /> <Path path={path} />
        </p>
        {operation.description && (
          <p>
            <Prose text={operation.description} />
          </p>
        )}
        <Credential {...entry} />
        <Parameters {...operation} />
        <Responses entry={entry} shownAt={shownAt} />
      </div>
      <div class="examples">
        {LANGUAGES.map(({ name, title, write }) => (
          <div data-language={name}>
            <CodeBlock title={title} what="request">
              {write(request)}
            </CodeBlock>
          </div>
        ))}
        <TryIt {...entry} />
        <ResponseExample {...operation} />
      </div>
    </article>
  )
}

/** What authorizes a request. */
const Credential = ({ operation: { security = [] }, alias }: Entry) => {
  const scopes = security.flatMap(({ apiKey = [] }) => apiKey)
  return (
    <>
      {scopes.length > 0 && (
        <p class="hint">
          Scope: <Prose text={scopes.map((scope) => `\`${scope}\``).join(' or ')} />
        </p>
      )}
      {alias && (
        <p class="hint" id={alias.anchor}>
          Also at <code>{alias.path}</code>, with a console session in the cookie{' '}
          <code>{alias.cookie}</code> in place of a key.
        </p>
      )}
    </>
  )
}

const PLACES: readonly [place: string, title: string][] = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Headers'],
]

const Parameters = ({ parameters = [], requestBody }: ApiOperation) => (
  <>
    {PLACES.map(([place, title]) => (
      <Part title={title} fields={parameters.filter((one) => one.in === place).map(fieldOf)} />
    ))}
    {requestBody && <Body {...requestBody} />}
  </>
)

const Body = ({ required, content }: NonNullable<ApiOperation['requestBody']>) => {
  const schema = content?.['application/json']?.schema ?? {}
  const fields = objectsIn(schema).flatMap(fieldsOf)
  const title = required ? 'Body' : 'Body, optional'
  return fields.length > 0 ? (
    <Part title={title} fields={fields} />
  ) : (
    <div>
      <h4>{title}</h4>
      <p class="hint">{ruleOf(schema) || `Any ${typeOf(schema)}.`}</p>
    </div>
  )
}

const fieldOf = ({ name, schema = {}, required = false }: ApiParameter) => ({
  name,
  schema,
  isRequired: required,
})

const Part = ({ title, fields }: { title: string; fields: ReturnType<typeof fieldsOf> }) =>
  fields.length === 0 ? null : (
    <div>
      <h4>{title}</h4>
      <Fields fields={fields} direction="request" />
    </div>
  )

const ResponseExample = ({ responses = {} }: ApiOperation) => {
  const [status, answer] = Object.entries(responses).find(([status]) => status[0] === '2') ?? []
  const example = answer?.content?.['application/json']?.example
  return example === undefined ? null : <JsonBlock title={`Response ${status}`} value={example} />
}
