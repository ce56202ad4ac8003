import type { ApiContent, ApiOperation, JsonSchema } from '../../src/http/api-document.ts'
import { formattedJson } from '../ui/json.tsx'
import type { Entry } from './entries.ts'
import { Fields, fieldsOf } from './fields.tsx'
import { Prose } from './prose.tsx'
import type { ShownAt } from './repeated-objects.ts'
import { objectsIn } from './schema.ts'

type Response = NonNullable<ApiOperation['responses']>[string]

/** Each successful response with its fields, then all errors in one place. */
export const Responses = ({ entry, shownAt }: { entry: Entry; shownAt: ShownAt }) => {
  const all = Object.entries(entry.operation.responses ?? {})
  const errors = all.filter(([status]) => status >= '400')
  return (
    <div class="responses">
      <h4>Responses</h4>
      {all
        .filter(([status]) => status < '400')
        .map(([status, response]) => (
          <Success status={status} {...response} shownAt={(object) => shownAt(object, entry)} />
        ))}
      {errors.length > 0 && <Errors errors={errors} />}
    </div>
  )
}

interface SuccessView extends Response {
  status: string
  shownAt: (object: JsonSchema) => Entry | undefined
}

const Success = ({ status, content, headers = {}, description = '', shownAt }: SuccessView) => {
  const objects = objectsIn(jsonOf(content)?.schema ?? {})
  const line = (
    <>
      <code class="good">{status}</code> <Prose text={description} />
      {'ETag' in headers && (
        <span class="hint">
          {' '}
          with <code>ETag</code>
        </span>
      )}
    </>
  )
  if (objects.length === 0) return <p>{line}</p>
  return (
    <details class="fold">
      <summary>{line}</summary>
      {objects.map((object) => (
        <ObjectFields object={object} shownAt={shownAt(object)} />
      ))}
    </details>
  )
}

const ObjectFields = (view: { object: JsonSchema; shownAt: Entry | undefined }) =>
  view.shownAt ? (
    <p>
      As in <a href={view.shownAt.href}>{view.shownAt.title}</a>.
    </p>
  ) : (
    <Fields fields={fieldsOf(view.object)} direction="response" />
  )

/** Every error with an example of its body. */
const Errors = ({ errors }: { errors: readonly [status: string, Response][] }) => (
  <details class="fold">
    <summary>
      Errors <span class="hint">{errors.map(([status]) => status).join(', ')}</span>
    </summary>
    <dl>
      {errors.map(([status, { content, description = '' }]) => (
        <div>
          <dt>
            <code class="bad">{status}</code> <Prose text={description} />
          </dt>
          <dd>
            <ErrorExample {...jsonOf(content)} />
          </dd>
        </div>
      ))}
    </dl>
  </details>
)

const ErrorExample = ({ example }: ApiContent) =>
  example === undefined ? null : (
    <pre tabindex={0}>
      <code>{compactJson(example)}</code>
    </pre>
  )

/** An object of one text is in one line. */
function compactJson(value: unknown): string {
  const text = formattedJson(value)
  return text.split('\n').length === 3 ? text.replaceAll(/\n\s*/g, ' ') : text
}

const jsonOf = (content: Response['content'] = {}): ApiContent | undefined =>
  content['application/json']
