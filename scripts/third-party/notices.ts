import type { Component } from './components.ts'

const RULE = '='.repeat(80)

/** The licences and notices of everything in the executable, as one text. */
export function noticesText(version: string, components: readonly Component[]): string {
  const head = [
    `Third-party notices of Gatehouse ${version}`,
    '',
    'Gatehouse is under the MIT licence. Its executable contains the software below, each part under',
    'its own licence. The bill of materials beside the executable, gatehouse.cdx.json, lists it for',
    'machines.',
  ].join('\n')
  return `${[head, ...components.map(section)].join('\n\n')}\n`
}

function section({ name, version, licence, embedded, notices }: Component): string {
  const parts = embedded.map(({ name, version }) => [name, version].filter(Boolean).join(' '))
  const title = [
    RULE,
    `${name} ${version}`,
    `Licence: ${licence}`,
    ...(parts.length > 0 ? [`Contains: ${parts.join(', ')}`] : []),
    RULE,
  ].join('\n')
  return [title, ...notices].join('\n\n')
}
