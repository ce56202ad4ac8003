import { Icon } from '../../views/ui/icons.tsx'
import { url } from '../../views/ui/url.ts'
import { stampOf } from '../platform/clock.ts'
import { csvLine } from '../platform/csv.ts'
import type { Page } from '../platform/cursor.ts'
import { invalid } from '../platform/errors.ts'
import { filterIn } from './list.tsx'
import { type OperatorPageContext, usePage } from './page.tsx'
import { checkTimeFilter } from './time-filter.ts'

const FORMATS = ['csv', 'ndjson'] as const
type Format = (typeof FORMATS)[number]

/** The columns of an export, by name. */
export type ExportColumns<Row> = Readonly<
  Record<string, (row: Row) => string | number | boolean | null>
>

/**
 * The download of a list: all rows that match its filter, in its order. Reads a slice whenever the
 * client has taken the last one, so that neither memory nor a turn of the event loop grows with the list.
 */
export const exportOf =
  <Row, Context extends OperatorPageContext>(of: {
    /** For the name of the file. */
    name: string
    columns: ExportColumns<Row>
    slices: (context: Context) => Iterable<readonly Row[]>
  }) =>
  (context: Context): Response => {
    const format = formatIn(context)
    checkTimeFilter(context)
    return download(of.name, format, context.now, linesIn(format, of.columns, of.slices(context)))
  }

/** Throws `invalid` for an unknown format. */
export function formatIn({ query }: Pick<OperatorPageContext, 'query'>): Format {
  const format = FORMATS.find((one) => one === query.format)
  if (format) return format
  throw invalid(`must be ${FORMATS.join(' or ')}`, { field: 'format', rule: 'choice' })
}

function* linesIn<Row>(
  format: Format,
  columns: ExportColumns<Row>,
  slices: Iterable<readonly Row[]>,
) {
  const names = Object.keys(columns)
  const cellsOf = (row: Row) => Object.values(columns).map((cell) => cell(row))
  const line = {
    csv: (row: Row) => csvLine(cellsOf(row)),
    ndjson: (row: Row) =>
      `${JSON.stringify(Object.fromEntries(cellsOf(row).map((cell, at) => [names[at], cell])))}\n`,
  }[format]
  if (format === 'csv') yield csvLine(names)
  for (const rows of slices) yield rows.map(line).join('')
}

/** Rows of a page of an export. */
const SLICE = 100

/** All rows of a list with cursors. */
export function* pagesOf<Row>(
  read: (of: { cursor: string | undefined; limit: number }) => Page<Row>,
): Generator<readonly Row[]> {
  for (let cursor: string | undefined; ; ) {
    const { data, next_cursor: next } = read({ cursor, limit: SLICE })
    yield data
    if (next === null) return
    cursor = next
  }
}

const TYPES: Record<Format, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
}

/** Streams texts as a file. */
export const download = (name: string, format: Format, now: number, texts: Generator<string>) =>
  new Response(streamOf(texts), {
    headers: {
      'content-type': TYPES[format],
      'content-disposition': `attachment; filename="gatehouse-${name}-${stampOf(now)}.${format}"`,
    },
  })

/** Yields to the event loop between slices, because many of them may have no match. */
function streamOf(texts: Generator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      for (let next = texts.next(); ; next = texts.next()) {
        if (next.done) return controller.close()
        if (next.value !== '') return controller.enqueue(encoder.encode(next.value))
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    cancel: () => void texts.return(undefined),
  })
}

/** Downloads of the page's list with its filter: its file `export`. */
export function ExportMenu() {
  const { actionHref, query } = usePage()
  const filter = filterIn({ query })
  return (
    <details class="menu export">
      <summary class="button">
        Export
        <Icon name="down" />
      </summary>
      <ul class="popup">
        {FORMATS.map((format) => (
          <li>
            <a class="item" href={url('', actionHref('export'), { ...filter, format })} download>
              {format.toUpperCase()}
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}
