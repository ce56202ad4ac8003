import { Button } from '../ui/form/button.tsx'
import { formattedJson } from '../ui/json.tsx'
import type { Entry } from './entries.ts'

/** A form that sends the request with the key of the page: reference.js does. Hidden without scripts. */
export const TryIt = ({ method, path, operation }: Entry) => {
  const { parameters = [], requestBody, security } = operation
  const body = requestBody?.content?.['application/json']?.example
  return (
    <details class="try">
      <summary class="button small">Try it</summary>
      <form
        data-try={path}
        data-method={method.toUpperCase()}
        data-keyless={security ? undefined : ''}
      >
        {parameters
          .filter((one) => one.in !== 'header')
          .map(({ name, in: place, required }) => (
            <label>
              <span>
                <code>{name}</code>
                {!required && <span class="hint"> optional</span>}
              </span>
              <input name={name} data-in={place} required={required} autocomplete="off" />
            </label>
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
