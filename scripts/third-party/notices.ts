import type { Component } from './components.ts'
import { textOf } from './licences.ts'
import type { Embedded } from './supplied.ts'

const RULE = '='.repeat(80)
const THIN_RULE = '-'.repeat(80)

/** The licences and notices of everything in the executable, as one text. */
export function noticesText(version: string, components: readonly Component[]): string {
  const head = [
    `Third-party notices of Gatehouse ${version}`,
    '',
    'Gatehouse is under the MIT licence. Its executable contains the software below, each part under',
    'its own licence. If a part comes without the text of its licence, the text is at the end, under',
    'its SPDX identifier. The bill of materials beside the executable, gatehouse.cdx.json, lists all',
    'parts for machines.',
  ].join('\n')
  const texts = [...new Set(components.flatMap(({ texts }) => texts))].sort()
  return `${[head, ...components.map(section), ...texts.map(licenceText)].join('\n\n')}\n`
}

function section({ name, version, licence, embedded, notices }: Component): string {
  const title = [RULE, `${name} ${version}`, `Licence: ${licence}`, RULE].join('\n')
  const parts = embedded.length > 0 ? [['It contains:', ...embedded.map(entry)].join('\n')] : []
  return [title, ...notices, ...parts].join('\n\n')
}

function entry({ name, version, license, licenseName, copyright = [] }: Embedded): string {
  const title = [name, version].filter(Boolean).join(' ')
  return [`- ${title} (${license ?? licenseName})`, ...copyright].join('\n    ')
}

const licenceText = (identifier: string): string =>
  [THIN_RULE, identifier, THIN_RULE, '', textOf(identifier)].join('\n')
