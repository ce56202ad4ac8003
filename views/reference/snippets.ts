import { formattedJson } from '../ui/json.tsx'

/** A request to show in several languages. */
export interface ExampleRequest {
  method: string
  url: string
  credential?: 'key' | 'session' | undefined
  body?: unknown
  /** Whether the response has JSON. */
  isAnswered: boolean
}

/** JSON up to this length is in one line of a command. */
const MAX_LINE = 60

const KEY = 'GATEHOUSE_KEY'
const SESSION = 'GATEHOUSE_SESSION'

export const LANGUAGES = [
  { name: 'curl', title: 'curl', write: curl },
  { name: 'typescript', title: 'TypeScript', write: typescript },
  { name: 'python', title: 'Python', write: python },
] as const

function curl({ method, url, credential, body }: ExampleRequest): string {
  const json = JSON.stringify(body)
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    ...(credential === 'key' ? [`-H "Authorization: Bearer $${KEY}"`] : []),
    ...(credential === 'session' ? [`-b "identity_session=$${SESSION}"`] : []),
    ...(body === undefined
      ? []
      : [
          `-H "Content-Type: application/json"`,
          `-d ${quoted(json.length > MAX_LINE ? formattedJson(body) : json)}`,
        ]),
  ]
  return lines.join(' \\\n  ')
}

/** For a POSIX shell, where an address without special characters needs no quotes. */
const quoted = (text: string): string =>
  /^[\w:/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

function typescript({ method, url, credential, body, isAnswered }: ExampleRequest): string {
  const headers = [
    ...(credential === 'key' ? [`Authorization: \`Bearer \${env.${KEY}}\``] : []),
    ...(credential === 'session' ? [`Cookie: \`identity_session=\${env.${SESSION}}\``] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: ${JSON.stringify(method)}`]),
    ...(headers.length === 0 ? [] : [`headers: ${indented(`{\n${linesOf(headers, 2)}}`, 2)}`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(formattedJson(body), 2)})`]),
  ]
  const args = options.length === 0 ? [] : [`{\n${linesOf(options, 2)}}`]
  return [
    ...(credential === undefined ? [] : ['import { env } from "node:process";\n']),
    `const response = await ${callOf('fetch', [JSON.stringify(url), ...args].join(', '))};`,
    'if (!response.ok) throw new Error(await response.text());',
    ...(isAnswered ? ['console.log(await response.json());'] : []),
  ].join('\n')
}

function python({ method, url, credential, body, isAnswered }: ExampleRequest): string {
  const args = [
    JSON.stringify(url),
    ...(credential === 'key'
      ? [`headers={"Authorization": f"Bearer {os.environ['${KEY}']}"}`]
      : []),
    ...(credential === 'session' ? [`cookies={"identity_session": os.environ["${SESSION}"]}`] : []),
    ...(body === undefined ? [] : [`json=${indented(pythonLiteral(body), 4)}`]),
  ]
  return [
    credential === undefined ? 'import requests\n' : 'import os\n\nimport requests\n',
    `response = ${callOf(`requests.${method.toLowerCase()}`, `\n${linesOf(args, 4)}`)}`,
    'response.raise_for_status()',
    ...(isAnswered ? ['print(response.json())'] : []),
  ].join('\n')
}

const callOf = (name: string, args: string): string => `${name}(${args})`

const linesOf = (parts: readonly string[], indentation: number): string =>
  parts.map((part) => `${' '.repeat(indentation)}${part},\n`).join('')

/** JSON text is Python, except for three words outside of strings. */
const pythonLiteral = (body: unknown): string =>
  JSON.stringify(body, null, 4).replaceAll(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => ({ true: 'True', false: 'False', null: 'None' })[token] ?? token,
  )

/** Continues on the level of the call that it is in. */
const indented = (text: string, by: number): string => text.replaceAll('\n', `\n${' '.repeat(by)}`)
