import type { ApiParameter } from '../../src/http/api-document.ts'
import type { Entry } from './entries.ts'
import type { ExampleRequest } from './snippets.ts'

/** The values of headers that are secrets: variables of the shell. */
const VARIABLES: Record<string, string> = { 'X-Session-Token': '$GATEHOUSE_SESSION' }

/** The request of an operation with what it requires, and with an example of its body. */
export function exampleRequest(server: string, { method, path, operation }: Entry): ExampleRequest {
  const { parameters = [], security = [], requestBody, responses = {} } = operation
  const required = (place: string) => parameters.filter((one) => one.in === place && one.required)
  const query = new URLSearchParams(required('query').map((one) => [one.name, exampleValue(one)]))
  const takesKey = security.some((credential) => 'apiKey' in credential)
  return {
    method: method.toUpperCase(),
    url: `${server}${filled(path, required('path'))}${query.size > 0 ? `?${query}` : ''}`,
    headers: {
      ...(takesKey && { Authorization: 'Bearer $GATEHOUSE_KEY' }),
      ...Object.fromEntries(
        required('header').map((one) => [one.name, VARIABLES[one.name] ?? exampleValue(one)]),
      ),
    },
    body: requestBody?.content?.['application/json']?.example,
    isAnswered: Object.entries(responses).some(
      ([status, { content }]) => status[0] === '2' && content?.['application/json'],
    ),
  }
}

const exampleValue = ({ name, example }: ApiParameter): string => `${example ?? name}`

const filled = (path: string, parameters: readonly ApiParameter[]): string =>
  parameters.reduce(
    (text, one) => text.replace(`{${one.name}}`, encodeURIComponent(exampleValue(one))),
    path,
  )
