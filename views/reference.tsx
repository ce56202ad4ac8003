import { STATUS_CODES } from 'node:http'
import type { ComponentChildren } from 'preact'
import type { ApiDocument, ApiOperation, JsonSchema } from '../src/http/openapi.ts'
import { assetHref } from './assets.ts'
import { FontLinks } from './font-links.tsx'

interface Entry {
  anchor: string
  method: string
  path: string
  operation: ApiOperation
}

/** API reference, rendered from the OpenAPI document. Works without scripts. */
export const ReferencePage = ({ document }: { document: ApiDocument }) => {
  const groups = document.tags.map((tag) => ({ tag, entries: entriesOf(document, tag.name) }))
  return (
    <Page title={`${document.info.title} API`}>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class="reference">
        <nav aria-label="Operations">
          <p class="brand">
            {document.info.title} <small>{document.info.version}</small>
          </p>
          {groups.map(({ tag, entries }) => (
            <Contents name={tag.name} entries={entries} />
          ))}
          <p class="group">
            <a href="/openapi.json">openapi.json</a>
          </p>
        </nav>
        <main id="content">
          <h1>API reference</h1>
          <p class="lead">
            Base URL: <code>{document.servers[0]?.url}</code>. Authenticate with an API key:{' '}
            <code>Authorization: Bearer …</code>. Every response includes <code>X-Request-Id</code>.
          </p>
          {groups.map(({ tag, entries }) => (
            <section aria-labelledby={`tag-${tag.name}`}>
              <h2 id={`tag-${tag.name}`}>{capitalized(tag.name)}</h2>
              <p>
                <Prose text={tag.description} />
              </p>
              {entries.map((entry) => (
                <Operation base={document.servers[0]?.url ?? ''} {...entry} />
              ))}
            </section>
          ))}
        </main>
      </div>
    </Page>
  )
}

const Contents = ({ name, entries }: { name: string; entries: Entry[] }) => (
  <>
    <p class="group">{capitalized(name)}</p>
    <ul>
      {entries.map(({ anchor, method, operation, path }) => (
        <li>
          <a href={`#${anchor}`}>
            <Method name={method} />
            <span>{operation.summary ?? path}</span>
          </a>
        </li>
      ))}
    </ul>
  </>
)

const Operation = ({ base, anchor, method, path, operation }: Entry & { base: string }) => {
  const body = objectIn(operation.requestBody?.content?.['application/json']?.schema)
  return (
    <article id={anchor}>
      <h3>{operation.summary ?? path}</h3>
      <p class="endpoint">
        <Method name={method} /> <code>{path}</code>
      </p>
      <Scopes {...operation} />
      {operation.description && (
        <p>
          <Prose text={operation.description} />
        </p>
      )}
      {operation.parameters && (
        <Fields
          caption="Parameters"
          rows={operation.parameters.map(({ name, required, schema }) => ({
            name,
            schema: schema ?? {},
            required: required ?? false,
          }))}
        />
      )}
      {body?.properties && <Fields caption="Body" rows={fieldsOf(body)} />}
      <Responses responses={operation.responses ?? {}} />
      <details>
        <summary>curl</summary>
        <pre>
          <code>{curl(base, method, path, operation, body)}</code>
        </pre>
      </details>
    </article>
  )
}

const Scopes = ({ security = [] }: ApiOperation) => {
  const scopes = security.flatMap(({ apiKey = [] }) => apiKey)
  if (scopes.length === 0) return null
  return (
    <p class="note">
      Scope: <Prose text={scopes.map((scope) => `\`${scope}\``).join(' or ')} />
    </p>
  )
}

interface Field {
  name: string
  schema: JsonSchema
  required: boolean
}

const Fields = ({ caption, rows }: { caption: string; rows: Field[] }) => (
  <table>
    <caption>{caption}</caption>
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Type</th>
        <th scope="col">Required</th>
      </tr>
    </thead>
    <tbody>
      {rows.map(({ name, schema, required }) => (
        <tr>
          <th scope="row">
            <code>{name}</code>
          </th>
          <td>
            {typeOf(schema)}
            {schema.description && (
              <p class="note">
                <Prose text={schema.description} />
              </p>
            )}
          </td>
          <td>{required ? 'required' : 'optional'}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

const Responses = ({ responses }: { responses: NonNullable<ApiOperation['responses']> }) => (
  <>
    {Object.entries(responses).map(([status, { description, content }]) => {
      const schema = Object.values(content ?? {})[0]?.schema
      const fields = schema?.properties ?? schema?.items?.properties
      return (
        <details class="response">
          <summary>
            <b class={`status s${status[0]}`}>{status}</b>{' '}
            <Prose text={meaningOf(status, schema, description)} />
          </summary>
          {fields && (
            <dl>
              {Object.entries(fields).map(([name, field]) => (
                <div>
                  <dt>
                    <code>{name}</code>
                  </dt>
                  <dd>{typeOf(field)}</dd>
                </div>
              ))}
            </dl>
          )}
        </details>
      )
    })}
  </>
)

/** Description of a response. The name of its status stands in for the generator's placeholder. */
function meaningOf(status: string, schema: JsonSchema | undefined, description = ''): string {
  if (schema?.description) return schema.description
  if (schema?.type === 'array') return 'A list of objects with:'
  if (schema?.properties) return 'An object with:'
  return description.startsWith('Response for status') ? (STATUS_CODES[status] ?? '') : description
}

/** Renders text between backticks as code. */
const Prose = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
)

const Method = ({ name }: { name: string }) => <b class={`method ${name}`}>{name.toUpperCase()}</b>

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

const entriesOf = ({ paths }: ApiDocument, tag: string): Entry[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.tags?.includes(tag))
      .map(([method, operation]) => ({ anchor: anchorOf(method, path), method, path, operation })),
  )

const anchorOf = (method: string, path: string) =>
  `${method}${path}`.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '')

/** Fields including nested ones, named by path: `traits.email`, `providers[].enabled`. */
const fieldsOf = ({ properties = {}, required = [] }: JsonSchema, within = ''): Field[] =>
  Object.entries(properties).flatMap(([name, schema]) => [
    { name: within + name, schema, required: required.includes(name) },
    ...fieldsOf(schema, `${within}${name}.`),
    ...fieldsOf(schema.items ?? {}, `${within}${name}[].`),
  ])

function typeOf(schema: JsonSchema): string {
  if (schema.expected) return schema.expected
  if (schema.enum) return schema.enum.join(', ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  if (schema.type === 'object' && schema.properties)
    return Object.keys(schema.properties).join(', ')
  return schema.type === 'boolean' ? 'true or false' : (schema.type ?? 'any')
}

function curl(
  base: string,
  method: string,
  path: string,
  operation: ApiOperation,
  body: JsonSchema | undefined,
): string {
  const lines = [`curl -X ${method.toUpperCase()} ${base}${path}`]
  if (takes('apiKey', operation)) lines.push('-H "Authorization: Bearer $GATEHOUSE_KEY"')
  if (takes('session', operation)) lines.push('-b "identity_session=$GATEHOUSE_SESSION"')
  if (body)
    lines.push(
      '-H "Content-Type: application/json"',
      `-d '${JSON.stringify(exampleValue('body', body))}'`,
    )
  return lines.join(' \\\n  ')
}

const takes = (scheme: string, { security = [] }: ApiOperation): boolean =>
  security.some((one) => scheme in one)

/** An example with the required properties only. */
const exampleOf = ({ properties = {}, required = [] }: JsonSchema): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, schema]) => [name, exampleValue(name, schema)]),
  )

/** A valid value: its example, or one made of its required properties. */
export function exampleValue(name: string, schema: JsonSchema): unknown {
  const known = schema.examples?.[0] ?? schema.const ?? schema.enum?.[0]
  if (known !== undefined) return known
  if (schema.anyOf?.[0]) return exampleValue(name, schema.anyOf[0])
  if (schema.type === 'object') return exampleOf(schema)
  if (schema.type === 'array') return [exampleValue(name, schema.items ?? {})]
  return schema.type === 'boolean' ? true : name
}

/** The object of an optional body, whose schema is `object or null`. */
const objectIn = (schema: JsonSchema | undefined): JsonSchema | undefined =>
  schema?.anyOf?.find(({ properties }) => properties) ?? schema

/** The document: title, style sheet, content. */
const Page = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <link rel="icon" href={assetHref('', 'icon.svg')} type="image/svg+xml" />
      <FontLinks base="" />
      <link rel="stylesheet" href={assetHref('', 'gatehouse.css')} />
    </head>
    <body>{children}</body>
  </html>
)
