import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import spdx from 'spdx-license-list/full'
import { type Package, ROOT } from './packages.ts'
import { SUPPLIED, type Supplied } from './supplied.ts'

/**
 * Licences that ask for no more than a notice. Anything else needs a decision: MPL-2.0, for one,
 * asks for the source of its files beside the executable.
 */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'Unicode-3.0',
  'Unicode-DFS-2016',
  'Unlicense',
])

/** SPDX identifiers of licences that packages state under another name. */
const SPDX_IDS: Record<string, string> = { 'BSD-0-Clause': '0BSD' }

const LICENCE_FILE = /^(licen[cs]e|copying)/i
const NOTICE_FILE = /^(licen[cs]e|copying|notice|copyright|authors|patents)/i
const SCRIPT = /\.[cm]?[jt]sx?$|\.css$/
const COMMENT = /\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*(?:\n|$))+/gm
const STATES_RIGHTS = /copyright|\(c\) [^=]|©|@licen[cs]e/i

const SUPPLIED_FILE = 'scripts/third-party/supplied.ts'

const IDENTIFIERS = new Map(Object.keys(spdx).map((id) => [id.toLowerCase(), id]))

/** The SPDX identifier that is meant by words such as "BSD 3-Clause". */
export const identifierOf = (words: string): string | undefined =>
  IDENTIFIERS.get(words.replaceAll(' ', '-').toLowerCase())

/** The text that SPDX has of a licence. */
export function textOf(identifier: string): string {
  const text = spdx[identifier]?.licenseText
  if (text === undefined) throw new Error(`spdx-license-list has no licence ${identifier}`)
  return text.trim()
}

/** The identifiers in an SPDX expression. */
export const identifiersIn = (expression: string): string[] =>
  (expression.match(/[\w.-]+/g) ?? []).filter((word) => word !== 'OR' && word !== 'AND')

/** What the repository says about a package. Throws where it says it about another version. */
export function suppliedFor({ name, version }: Pick<Package, 'name' | 'version'>): Supplied {
  const supplied = SUPPLIED[name] ?? { version }
  if (supplied.version !== version)
    throw new Error(
      `${SUPPLIED_FILE} is about ${name} ${supplied.version}, and this is ${version}: ` +
        'look up all that it says there, then change the version.',
    )
  return supplied
}

/** The SPDX expression of a licence that a package states. Throws for one that is not allowed. */
export function allowedLicence(name: string, stated: unknown): string {
  const expression = SPDX_IDS[`${stated}`] ?? `${stated}`
  if (!isAllowed(expression))
    throw new Error(
      `${name} is under ${stated ?? 'no stated licence'}, which is not on the list in ` +
        'scripts/third-party/licences.ts: use another package, or decide about that licence.',
    )
  return expression
}

/** Understands identifiers with OR and AND, in one pair of brackets at most. */
function isAllowed(expression: string): boolean {
  const inner = expression.replace(/^\((.*)\)$/, '$1')
  if (/[()]/.test(inner)) return false
  return inner.split(' OR ').some((choice) => choice.split(' AND ').every((id) => ALLOWED.has(id)))
}

/** The licence that the installed package states about itself. */
export function statedLicence({ name, version, folder }: Package): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
  if (manifest.version !== version)
    throw new Error(
      `${folder} has ${name} ${manifest.version}, bun.lock ${version}: run bun install`,
    )
  return allowedLicence(`${name} ${version}`, manifest.license)
}

/**
 * All that has to go with copies of a package: its files on licences and rights, or else its
 * copyright lines, and comments in its bundled modules. Throws where it has neither file nor lines.
 */
export function noticesOf(one: Package): string[] {
  const { copyright } = suppliedFor(one)
  const files = textsIn(join(ROOT, one.folder))
  if (!copyright && !files.some(({ name }) => LICENCE_FILE.test(name)))
    throw new Error(
      `${one.name} ${one.version} has no licence file: put its copyright lines into ${SUPPLIED_FILE}`,
    )
  const texts = [...files.map(({ text }) => text), ...linesOf(copyright)]
  return [...texts, ...commentsOf(one, texts.join('\n'))]
}

const linesOf = (copyright: string[] = []) => (copyright.length > 0 ? [copyright.join('\n')] : [])

/** Comments that state rights which the texts do not. */
function commentsOf({ modules }: Package, texts: string): string[] {
  const comments = modules
    .filter((path) => SCRIPT.test(path))
    .flatMap((path) => readFileSync(join(ROOT, path), 'utf8').match(COMMENT) ?? [])
    .map(withoutMarks)
  const isNews = (line: string) => STATES_RIGHTS.test(line) && !texts.includes(line.trim())
  return [...new Set(comments)].filter((comment) => comment.split('\n').some(isNews))
}

const withoutMarks = (comment: string): string =>
  comment.replaceAll(/^[ \t]*(?:\/\*+!?|\*+\/|\*|\/\/[/!]*)[ \t]?|[ \t]*\*+\/$/gm, '').trim()

function textsIn(folder: string): { name: string; text: string }[] {
  const names = readdirSync(folder).filter((name) => NOTICE_FILE.test(name))
  return names.sort().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return { name, text: text.replaceAll('\r\n', '\n').trim() }
  })
}
