import type { ComponentChildren } from 'preact'
import type { Environment } from '../../src/platform/engines.ts'
import { Button } from '../ui/form/button.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { ShortId } from '../ui/id.tsx'
import { Facts } from '../ui/section.tsx'
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

/**
 * Command palette: opens any page, finds any ID, creates, switches tenants and signs out. A script shows the
 * dialog, and adds the buttons of the open page.
 */
export const Palette = ({
  href,
  scope,
  scopes,
  creations,
  hiddenPages,
}: Pick<LayoutProps, 'href' | 'scope' | 'scopes' | 'creations' | 'hiddenPages'>) => (
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
      <ul data-palette-list data-palette-pages aria-label="Pages">
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
      <ul data-palette-list data-palette-buttons aria-label="On this page">
        {/* Copied for each button of the page. */}
        <template>
          <li>
            <button type="button" class="item">
              <Icon name="right" />
              <span />
              <span class="hint">This page</span>
            </button>
          </li>
        </template>
      </ul>
      <ul data-palette-list aria-label="Create">
        {creations.map((one) => (
          <li>
            <a class="item" href={one.href}>
              <Icon name="plus" />
              <span>{one.label}</span>
            </a>
          </li>
        ))}
      </ul>
      <ul data-palette-list aria-label="Session">
        {scopes
          .filter(({ id }) => id !== scope.id)
          .map(({ id, name }) => (
            <li>
              <Command action={href(LAYOUT_PATHS.switchScope)} fields={{ to: id }} icon="updown">
                Switch to <Text text={name} limit={48} />
              </Command>
            </li>
          ))}
        <li>
          <Command action={href(LAYOUT_PATHS.signOut)} icon="signOut">
            Sign out
          </Command>
        </li>
      </ul>
      <div id="palette-found" aria-live="polite" />
    </div>
  </dialog>
)

/** Keyboard shortcuts, shown by a script for `?`. */
export const Shortcuts = () => (
  <dialog class="shortcuts" id="shortcuts" aria-labelledby="shortcuts-title">
    <div class="question">
      <h3 id="shortcuts-title">Keyboard shortcuts</h3>
      <Facts
        facts={[
          [
            'Search and actions',
            <>
              <kbd class="modifier">⌘K</kbd> or <kbd>/</kbd>
            </>,
          ],
          ['Show shortcuts', <kbd>?</kbd>],
          ['Close a dialog or menu', <kbd>Esc</kbd>],
        ]}
      />
      <div class="actions">
        <Button type="button" closes>
          Close
        </Button>
      </div>
    </div>
  </dialog>
)

/** An item of the palette that submits a form. */
const Command = (command: {
  action: string
  fields?: Record<string, string>
  icon: IconName
  children: ComponentChildren
}) => (
  <form method="post" action={command.action}>
    {Object.entries(command.fields ?? {}).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <button type="submit" class="item">
      <Icon name={command.icon} />
      <span>{command.children}</span>
    </button>
  </form>
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
            <li class={one.kind === 'Page' ? 'ispage' : undefined}>
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
