import type { State } from './part.ts'

/** A list as it was drawn: its rows, which have ids, and what is around them. */
interface List {
  head: string
  rows: Map<string, string>
  tail: string
}

/**
 * What turns a page that shows `before` into one that shows `now`, as pieces that htmx puts in their
 * places. A page of which nobody knows what it shows gets all parts whole.
 */
export function changesTo(now: State, before: State | undefined): string {
  const pieces: string[] = []
  for (const [target, { html }] of now.parts) {
    const was = before?.parts.get(target)?.html
    if (was === html) continue
    pieces.push((was === undefined ? undefined : rowByRow(was, html)) ?? whole(target, html))
  }
  return pieces.join('')
}

/** Kept apart by its ids, so that what has the focus and is still there keeps it. */
const whole = (target: string, html: string): string => piece(`#${target}`, 'innerMorph', html)

/** Undefined where more has changed than rows that came, changed in their place, or went. */
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
  const changed = stay.filter((id) => steady(was.rows.get(id)) !== steady(is.rows.get(id)))
  const first = stay[0] ?? ''
  return [
    ...gone.map((id) => piece(`#${id}`, 'delete', '')),
    ...changed.map((id) => piece(`#${id}`, 'outerHTML', flashing(is.rows.get(id)))),
    ...(fresh.length > 0
      ? [piece(`#${first}`, 'beforebegin', fresh.map((id) => flashing(is.rows.get(id))).join(''))]
      : []),
  ].join('')
}

/** Rows hold no rows: what views draw has none, and what tenants write is escaped. */
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

/** Without how long ago things were, which the page itself goes on to tell. */
const steady = (row: string | undefined): string | undefined =>
  row?.replaceAll(/<span data-relative[^>]*>[^<]*<\/span>/g, '')

const flashing = (row = ''): string => row.replace(/^<(li|tr)/, '<$1 class="changed"')

/** Says where in a page htmx puts a piece of it. */
export const piece = (target: string, swap: string, html: string): string =>
  `<hx-partial hx-target="${target}" hx-swap="${swap}">${html}</hx-partial>`
