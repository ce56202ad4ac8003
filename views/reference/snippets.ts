import { formattedJson } from '../ui/json.tsx'

/** A request to show in several languages. */
export interface ExampleRequest {
  method: string
  url: string
  /** In values, `$NAME` is a variable of the environment. */
  headers: Record<string, string>
  body?: unknown
  /** Whether the response has JSON. */
  isAnswered: boolean
}

/** JSON up to this length is in one line of a command. */
const MAX_LINE = 60

export const LANGUAGES = [
  { name: 'curl', title: 'curl', write: curl },
  { name: 'typescript', title: 'TypeScript', write: typescript },
  { name: 'python', title: 'Python', write: python },
] as const

function curl({ method, url, headers, body }: ExampleRequest): string {
  const json = JSON.stringify(body)
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
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

const VARIABLE = /\$([A-Z_]+)/g

function typescript({ method, url, headers, body, isAnswered }: ExampleRequest): string {
  const fields = Object.entries(headers).map(
    ([name, value]) =>
      `${property(name)}: \`${value.replaceAll(VARIABLE, (_, name) => `\${env.${name}}`)}\``,
  )
  if (body !== undefined) fields.push('"Content-Type": "application/json"')
  const options = [
    ...(method === 'GET' ? [] : [`method: ${JSON.stringify(method)}`]),
    ...(fields.length === 0 ? [] : [`headers: ${indented(`{\n${linesOf(fields, 2)}}`, 2)}`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(formattedJson(body), 2)})`]),
  ]
  const args = options.length === 0 ? [] : [`{\n${linesOf(options, 2)}}`]
  return [
    ...(Object.keys(headers).length === 0 ? [] : ['import { env } from "node:process";\n']),
    `const response = await ${callOf('fetch', [JSON.stringify(url), ...args].join(', '))};`,
    'if (!response.ok) throw new Error(await response.text());',
    ...(isAnswered ? ['console.log(await response.json());'] : []),
  ].join('\n')
}

const property = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name))

function python({ method, url, headers, body, isAnswered }: ExampleRequest): string {
  const fields = Object.entries(headers).map(
    ([name, value]) => `"${name}": f"${value.replaceAll(VARIABLE, "{os.environ['$1']}")}"`,
  )
  const args = [
    JSON.stringify(url),
    ...(fields.length === 0 ? [] : [`headers={${fields.join(', ')}}`]),
    ...(body === undefined ? [] : [`json=${indented(pythonLiteral(body), 4)}`]),
  ]
  return [
    fields.length === 0 ? 'import requests\n' : 'import os\n\nimport requests\n',
    `response = ${callOf(`requests.${method.toLowerCase()}`, `\n${linesOf(args, 4)}`)}`,
    'if not response.ok:\n    raise RuntimeError(response.text)',
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
