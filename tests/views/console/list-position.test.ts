import { describe, expect, test } from 'bun:test'
import { type ListPosition, pagerLinks, positionIn } from '../../../views/console/list-position.ts'
import { url } from '../../../views/console/url.ts'

/** A list of numbered pages, of which each cursor is the number of its page. */
const LAST = 40

const hrefOf = (position: ListPosition) => url('', '/list', { state: 'failing', ...position })
const search = (href: string) => new URL(href, 'http://localhost').searchParams

function pagesAt(href: string) {
  const position = positionIn(search(href))
  const at = Number(position.cursor ?? 0)
  return { at, ...pagerLinks(position, at < LAST ? `${at + 1}` : null, hrefOf) }
}

/** What follows `link` so many times. */
function follow(from: string, link: 'newerHref' | 'olderHref', times: number): string {
  let href = from
  for (let step = 0; step < times; step++) {
    const next = pagesAt(href)[link]
    if (next === undefined) throw new Error(`no ${link} at ${href}`)
    href = next
  }
  return href
}

describe('the way through a list', () => {
  test('begins without a way back and ends without a way on', () => {
    expect(pagesAt('/list')).toEqual({ at: 0, olderHref: '/list?state=failing&cursor=1' })
    expect(pagesAt(follow('/list', 'olderHref', LAST)).olderHref).toBeUndefined()
  })

  test('leads back page by page, and to the first one at once', () => {
    const third = follow('/list', 'olderHref', 3)

    expect(pagesAt(third)).toMatchObject({ at: 3, newestHref: '/list?state=failing' })
    expect(pagesAt(follow(third, 'newerHref', 1)).at).toBe(2)
    expect(pagesAt(follow(third, 'newerHref', 2))).toEqual({
      at: 1,
      newerHref: '/list?state=failing',
      olderHref: '/list?state=failing&cursor=2&trail=1',
    })
    expect(follow(third, 'newerHref', 3)).toBe('/list?state=failing')
  })

  test('remembers twenty pages, and beyond them the first one alone', () => {
    const last = follow('/list', 'olderHref', LAST)
    const back = follow(last, 'newerHref', 19)

    expect(last.length).toBeLessThan(120)
    expect(pagesAt(back).at).toBe(LAST - 19)
    expect(pagesAt(back).newestHref).toBe('/list?state=failing')
    expect(pagesAt(back).newerHref).toBeUndefined()
  })

  test('leads to the first page from an address that tells of no way', () => {
    expect(pagesAt('/list?cursor=7')).toMatchObject({ at: 7, newerHref: '/list?state=failing' })
  })
})
