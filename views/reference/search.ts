import type { ApiOperation } from '../../src/http/api-document.ts'
import type { Chapter, Entry } from './entries.ts'
import { namesIn } from './schema.ts'

/** An operation that a search finds. */
export interface Match {
  entry: Entry
  chapter: Chapter
  /** Fields that have words of the search, unless these are in the title or the path. */
  fields: string[]
}

/**
 * Operations with all words of a search. First come those that have them in title, method, path or
 * scope, then those that have the rest in names of fields, then in descriptions and errors.
 */
export function matchesOf(chapters: readonly Chapter[], search: string): Match[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return chapters
    .flatMap((chapter) =>
      chapter.groups.flatMap(({ entries }) =>
        entries.map((entry) => ({ chapter, entry, ...rankOf(entry, words) })),
      ),
    )
    .filter(({ rank }) => rank < NOWHERE)
    .toSorted((one, other) => one.rank - other.rank)
}

const NOWHERE = 3

/** The place of the word that is in the least telling one. */
function rankOf(entry: Entry, words: readonly string[]) {
  const { head, fields, prose } = textsOf(entry)
  const texts = [head, fields.join(' ').toLowerCase(), prose]
  const ranks = words.map((word) => {
    const rank = texts.findIndex((text) => text.includes(word))
    return rank === -1 ? NOWHERE : rank
  })
  const inFields = words.filter((_, at) => ranks[at] === 1)
  return {
    rank: Math.max(...ranks),
    fields: fields.filter((name) => inFields.some((word) => name.toLowerCase().includes(word))),
  }
}

interface Texts {
  head: string
  fields: string[]
  prose: string
}

/** A document doesn't change, and its schemas are large. */
const known = new WeakMap<ApiOperation, Texts>()

function textsOf({ method, path, title, alias, operation }: Entry): Texts {
  const texts = known.get(operation) ?? {
    head: `${method} ${path} ${alias?.path} ${title} ${scopesOf(operation)}`.toLowerCase(),
    fields: [...new Set(fieldsOf(operation))],
    prose: proseOf(operation).toLowerCase(),
  }
  known.set(operation, texts)
  return texts
}

const scopesOf = ({ security = [] }: ApiOperation) =>
  security.flatMap(({ apiKey = [] }) => apiKey).join(' ')

const fieldsOf = ({ parameters = [], ...operation }: ApiOperation): string[] => [
  ...parameters.map(({ name }) => name),
  ...contentsOf(operation).flatMap(({ schema = {} }) => namesIn(schema)),
]

/** Descriptions, and examples of errors with their status. */
const proseOf = (operation: ApiOperation): string =>
  [
    operation.description,
    ...contentsOf(operation).map(({ schema }) => descriptionsIn(schema)),
    ...Object.entries(operation.responses ?? {})
      .filter(([status]) => status >= '400')
      .map(([status, { description, content = {} }]) =>
        JSON.stringify([status, description, Object.values(content).map(({ example }) => example)]),
      ),
  ].join(' ')

const descriptionsIn = (schema: unknown): string =>
  [...JSON.stringify(schema ?? {}).matchAll(/"description":"(.*?)"/g)]
    .map(([, text]) => text)
    .join(' ')

const contentsOf = ({ requestBody, responses = {} }: ApiOperation) =>
  [requestBody, ...Object.values(responses)].flatMap((one) => Object.values(one?.content ?? {}))
