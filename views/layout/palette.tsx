import type { Environment } from '../../src/platform/engines.ts'
import { Icon } from '../ui/icons.tsx'
import { ShortId } from '../ui/id.tsx'
import { Text } from '../ui/text.tsx'
import type { LayoutProps } from './model.ts'
import { LAYOUT_PATHS, navigationOf, PAGES } from './navigation.ts'

export interface SearchResult {
  /** Kind of object, such as user, job or endpoint. */
  kind: string
  name: string
  id?: string
  href: string
  /** Its environment, if it belongs to one. */
  environment?: Environment
}

/** Command palette: opens any page and finds any ID. A dialog, shown by a script. */
export const Palette = ({
  href,
  scope,
  hiddenPages,
}: Pick<LayoutProps, 'href' | 'scope' | 'hiddenPages'>) => (
  <dialog class="palette" id="palette" aria-label="Search">
    <form method="get" action={href(LAYOUT_PATHS.find)}>
      <Icon name="search" />
      <label class="unseen" for="palette-query">
        Search pages, names and IDs
      </label>
      <input
        type="text"
        enterkeyhint="search"
        id="palette-query"
        name="q"
        placeholder="Search pages, names and IDs"
        autocomplete="off"
        spellcheck={false}
        hx-get={href(LAYOUT_PATHS.find)}
        hx-trigger="input changed delay:150ms"
        hx-target="#palette-found"
        hx-select="#found"
        hx-swap="innerHTML"
        hx-sync="this:replace"
      />
      <kbd>Esc</kbd>
    </form>
    <div class="palettelist">
      <div id="palette-found" aria-live="polite" />
      <ul data-palette-pages aria-label="Pages">
        {navigationOf(scope.kind, hiddenPages).flatMap(({ title, pages }) =>
          pages.map((key) => (
            <li>
              <a class="item" href={href(PAGES[key].path)}>
                <Icon name={PAGES[key].icon} />
                <span>{PAGES[key].label}</span>
                {title && <span class="hint">{title}</span>}
              </a>
            </li>
          )),
        )}
      </ul>
    </div>
  </dialog>
)

/** Search page, which also provides the results of the palette. */
export const SearchPage = (find: {
  /** Address of the page. */
  action: string
  query: string
  results: readonly SearchResult[]
}) => (
  <search class="find">
    <form class="filterbar" method="get" action={find.action}>
      <label class="searchfield">
        <span class="unseen">Search by name or ID</span>
        <Icon name="search" />
        <input
          type="search"
          name="q"
          value={find.query}
          placeholder="Search by name or ID"
          autocomplete="off"
          spellcheck={false}
          autofocus
        />
      </label>
      <button type="submit" class="button small primary">
        Search
      </button>
    </form>
    <div id="found">
      {find.results.length > 0 ? (
        <ul class="found" aria-label="Results">
          {find.results.map((one) => (
            <li>
              <a class="item" href={one.href}>
                <Words {...one} />
              </a>
            </li>
          ))}
        </ul>
      ) : (
        find.query !== '' && (
          <p class="hint nothing">
            No results for <Text text={find.query} limit={64} />.
          </p>
        )
      )}
    </div>
  </search>
)

const Words = ({ kind, name, id, environment }: SearchResult) => (
  <>
    <Icon name="right" />
    <Text text={name} limit={64} />
    {id && id !== name && <ShortId id={id} />}
    <span class="hint">{environment === undefined ? kind : `${kind}, ${environment}`}</span>
  </>
)
