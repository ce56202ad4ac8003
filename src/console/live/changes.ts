import type { State } from './part.ts'

/** A rendered list: rows by ID, and the HTML around them. */
interface List {
  head: string
  rows: Map<string, string>
  tail: string
}

/** HTML partials that update a page from `before` to `now`. Without `before`, all parts are sent. */
export function changesTo(now: State, before: State | undefined): string {
  const pieces: string[] = []
  for (const [target, { html }] of now.parts) {
    const was = before?.parts.get(target)?.html
    if (was === html) continue
    pieces.push((was === undefined ? undefined : rowByRow(was, html)) ?? wholePart(target, html))
  }
  return pieces.join('')
}

/** Morphs a whole part, which keeps the focus. */
const wholePart = (target: string, html: string): string =>
  partial(`#${target}`, 'innerMorph', html)

/** Updates single rows; undefined if more than added, changed or removed rows differs. */
function rowByRow(before: string, now: string): string | undefined {
  const [was, is] = [listIn(before), listIn(now)]
  if (!was || !is || was.head !== is.head || was.tail !== is.tail) return undefined
  const stay = [...is.rows.keys()].filter((id) => was.rows.has(id))
  const stayed = [...was.rows.keys()].filter((id) => is.rows.has(id))
  const ids = [...is.rows.keys()]
  const fresh = ids.slice(0, ids.length - stay.length)
  const isInOrder = stay.every((id, index) => id === stayed[index])
  if (stay.length === 0 || !isInOrder || fresh.some((id) => was.rows.has(id))) return undefined
  const gone = [...was.rows.keys()].filter((id) => !is.rows.has(id))
  const changed = stay.filter(
    (id) => withoutRelativeTimes(was.rows.get(id)) !== withoutRelativeTimes(is.rows.get(id)),
  )
  const first = stay[0] ?? ''
  return [
    ...gone.map((id) => partial(`#${id}`, 'delete', '')),
    ...changed.map((id) => partial(`#${id}`, 'outerHTML', flashing(is.rows.get(id)))),
    ...(fresh.length > 0
      ? [partial(`#${first}`, 'beforebegin', fresh.map((id) => flashing(is.rows.get(id))).join(''))]
      : []),
  ].join('')
}

/** Matches a row. Rows are never nested: views don't nest them, and tenants' text is escaped. */
const ROW = /<(li|tr) id="([\w-]+)"[^>]*>[\s\S]*?<\/\1>/g

function listIn(html: string): List | undefined {
  const found = [...html.matchAll(ROW)]
  const [first, last] = [found[0], found.at(-1)]
  if (!first || !last) return undefined
  return {
    head: html.slice(0, first.index),
    rows: new Map(found.map(([row, , id = '']) => [id, row])),
    tail: html.slice(last.index + last[0].length),
  }
}

/** A row without relative times, which the page updates itself. */
const withoutRelativeTimes = (row: string | undefined): string | undefined =>
  row?.replaceAll(/<span data-relative[^>]*>[^<]*<\/span>/g, '')

const flashing = (row = ''): string => row.replace(/^<(li|tr)/, '<$1 class="changed"')

/** An htmx partial for a target. */
export const partial = (target: string, swap: string, html: string): string =>
  `<hx-partial hx-target="${target}" hx-swap="${swap}">${html}</hx-partial>`
