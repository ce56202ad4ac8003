import type { ApiParameter } from '../../src/http/api-document.ts'
import { Button } from '../ui/form/button.tsx'
import { formattedJson } from '../ui/json.tsx'
import type { Entry } from './entries.ts'
import { wordsOf } from './schema.ts'

/** A form that sends the request with the key of the page: reference.js does. Hidden without scripts. */
export const TryIt = ({ method, path, operation }: Entry) => {
  const { parameters = [], requestBody, security = [] } = operation
  const body = requestBody?.content?.['application/json']?.example
  const takesKey = security.some((credential) => 'apiKey' in credential)
  return (
    <details class="try">
      <summary class="button small">Try it</summary>
      <form
        data-try={path}
        data-method={method.toUpperCase()}
        data-keyless={takesKey ? undefined : ''}
      >
        {parameters.map((parameter) => (
          <ParameterInput {...parameter} />
        ))}
        {requestBody && (
          <label>
            <span>Body</span>
            <textarea data-body data-code rows={6} spellcheck={false}>
              {formattedJson(body)}
            </textarea>
          </label>
        )}
        <Button weight={method === 'delete' ? 'destroy' : 'primary'} isSmall>
          Send {method.toUpperCase()} request
        </Button>
        <div data-answer role="status" />
      </form>
    </details>
  )
}

const ParameterInput = (parameter: ApiParameter) => {
  const words = wordsOf(parameter.schema ?? {})
  if (words.length > 0) return <Choice {...parameter} words={words} />
  const { name, in: place, required, example } = parameter
  const placeholder = example === undefined ? undefined : `${example}`
  const field = { name, 'data-in': place, required, placeholder, autocomplete: 'off' }
  return name === 'X-Session-Token' ? (
    <label>
      <Name {...parameter} />
      <input {...field} type="password" />
    </label>
  ) : (
    <label>
      <Name {...parameter} />
      <input {...field} />
    </label>
  )
}

const Choice = (choice: ApiParameter & { words: readonly unknown[] }) => (
  <label>
    <Name {...choice} />
    <select name={choice.name} data-in={choice.in}>
      {!choice.required && <option value="" />}
      {choice.words.map((word) => (
        <option>{`${word}`}</option>
      ))}
    </select>
  </label>
)

const Name = ({ name, required }: ApiParameter) => (
  <span>
    <code>{name}</code>
    {!required && <span class="hint"> optional</span>}
  </span>
)
