import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Package, ROOT } from './packages.ts'

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
  'Unlicense',
])

/** SPDX identifiers of licences that packages state under another name. */
const SPDX_IDS: Record<string, string> = { 'BSD-0-Clause': '0BSD' }

const LICENCE_FILE = /^(licen[cs]e|copying)/i
const NOTICE_FILE = /^(licen[cs]e|copying|notice|copyright|authors|patents)/i
const SCRIPT = /\.[cm]?[jt]sx?$|\.css$/
const COMMENT = /\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*(?:\n|$))+/gm
const STATES_RIGHTS = /copyright|\(c\) [^=]|©|@licen[cs]e/i

/** Software that a package has inside its own files, so that no lock file names it. */
export interface Embedded {
  name: string
  version?: string
  purl?: string
  /** An SPDX expression. */
  license?: string
  /** What its licence is called, where no SPDX expression says the same. */
  licenseName?: string
}

/**
 * Where the repository keeps the licence of a package that comes without one, and what the package
 * embeds: `licenses/NAME@VERSION`. A new version needs another look, so the old folder does not do.
 */
export const suppliedFolder = ({ name, version }: Pick<Package, 'name' | 'version'>): string =>
  join('licenses', `${name}@${version}`)

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
 * All that has to go with copies of a package: its files on licences and rights, those that the
 * repository supplies, and comments in its bundled modules. Throws where there is no licence text.
 */
export function noticesOf(one: Package): string[] {
  const supplied = suppliedTexts(one)
  const files = textsIn(join(ROOT, one.folder), NOTICE_FILE)
  if (supplied.length === 0 && !files.some(({ name }) => LICENCE_FILE.test(name)))
    throw new Error(
      `${one.name} ${one.version} has no licence file: put its text into ${suppliedFolder(one)}/`,
    )
  const texts = [...files.map(({ text }) => text), ...supplied]
  return [...texts, ...commentsOf(one, texts.join('\n'))]
}

/** The texts that the repository supplies for a package. */
export const suppliedTexts = (of: Pick<Package, 'name' | 'version'>): string[] =>
  textsIn(join(ROOT, suppliedFolder(of)), /^(?!embedded\.json$)/).map(({ text }) => text)

/** What a package embeds, as the repository says. */
export function embeddedIn(of: Pick<Package, 'name' | 'version'>): Embedded[] {
  const file = join(ROOT, suppliedFolder(of), 'embedded.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

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

function textsIn(folder: string, wanted: RegExp): { name: string; text: string }[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => wanted.test(name))
  return names.sort().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return { name, text: text.replaceAll('\r\n', '\n').trim() }
  })
}
