import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identifierOf } from './licences.ts'
import { ROOT } from './packages.ts'
import type { Embedded } from './supplied.ts'

/** Bun comes without a licence file. The package of its types has the page of its makers on it. */
const TYPES = join(ROOT, 'node_modules', 'bun-types')

/** What the makers of Bun state about its licence and those of its parts, as Markdown. */
export function runtimeStatement(version: string, types = TYPES): string {
  const page = join(types, 'docs', 'project', 'license.mdx')
  if (!existsSync(page))
    throw new Error(`${page} is missing: run bun install, or find where Bun states its licence now`)
  const described = JSON.parse(readFileSync(join(types, 'package.json'), 'utf8')).version
  if (described !== version)
    throw new Error(`${page} is about Bun ${described}: take @types/bun ${version}`)
  return readFileSync(page, 'utf8')
    .replace(/^---\n.*?\n---\n/s, '')
    .trim()
}

/** What the statement lists as part of Bun. Throws where it has no such list. */
export const partsIn = (statement: string): Embedded[] =>
  ['Linked libraries', 'Polyfills'].flatMap((heading) => {
    const section = statement.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? ''
    const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'))
    if (rows.length === 0) throw new Error(`The licence page of Bun has no table "${heading}"`)
    return rows.filter((row) => !row.includes('(on Windows)')).map(partOf)
  })

const LINK = /\[`?(.+?)`?\]\(.*?\)/

/** Of a row: the first cell has the name as a link, the second the licence, at times as a link. */
function partOf(row: string): Embedded {
  const [, part = '', licence = ''] = row.split('|')
  const name = LINK.exec(part)?.[1]
  const licenseName = licence.replace(LINK, '$1').trim()
  if (name === undefined || licenseName === '')
    throw new Error(`The licence page of Bun has a row without a name or a licence: ${row}`)
  const license = identifierOf(licenseName.replace(/ licensed$/, ''))
  return license === undefined ? { name, licenseName } : { name, license }
}
