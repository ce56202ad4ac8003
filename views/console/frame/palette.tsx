import type { Environment } from '../../../src/platform/engines.ts'
import { Icon } from '../icons.tsx'
import { ShortId } from '../id.tsx'
import { ScopedForm } from '../scope.tsx'
import { Text } from '../text.tsx'
import { url } from '../url.ts'
import type { FrameProps } from './model.ts'
import { FRAME_PATHS, navigationOf, PAGES } from './navigation.ts'

export interface Found {
  /** What it is: identity, job, endpoint. */
  kind: string
  name: string
  id?: string
  href: string
  /** Given where it is among the data that is not shown: to go there changes over. */
  environment?: Environment
}

/** Jumps to any page and finds any id: a dialog where scripts run. */
export const Palette = ({
  base,
  place,
  without,
}: Pick<FrameProps, 'base' | 'place' | 'without'>) => (
  <dialog class="palette" id="palette" aria-label="Search and go to">
    <form method="get" action={url(base, FRAME_PATHS.find)}>
      <Icon name="search" />
      <label class="unseen" for="palette-query">
        Page, name or id
      </label>
      <input
        type="text"
        enterkeyhint="search"
        id="palette-query"
        name="q"
        placeholder="Page, name or id"
        autocomplete="off"
        spellcheck={false}
        hx-get={url(base, FRAME_PATHS.find)}
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
        {navigationOf(place.kind, without).flatMap(({ title, pages }) =>
          pages.map((key) => (
            <li>
              <a class="item" href={url(base, PAGES[key].path)}>
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

/** The same search as a page of its own, which is also where the palette gets its answers from. */
export const FindPage = (find: { base: string; query: string; found: readonly Found[] }) => (
  <search class="find">
    <form class="filterbar" method="get" action={url(find.base, FRAME_PATHS.find)}>
      <label class="searchfield">
        <span class="unseen">Name or id</span>
        <Icon name="search" />
        <input
          type="search"
          name="q"
          value={find.query}
          placeholder="Name or id"
          autocomplete="off"
          spellcheck={false}
          autofocus
        />
      </label>
      <button type="submit" class="button small primary">
        Find
      </button>
    </form>
    <div id="found">
      {find.found.length > 0 ? (
        <ul class="found" aria-label="Found">
          {find.found.map((one) => (
            <li>
              <Way base={find.base} to={one} />
            </li>
          ))}
        </ul>
      ) : (
        find.query !== '' && (
          <p class="hint nothing">
            Nothing is called <Text text={find.query} limit={64} />.
          </p>
        )
      )}
    </div>
  </search>
)

const Way = ({ base, to }: { base: string; to: Found }) =>
  to.environment === undefined ? (
    <a class="item" href={to.href}>
      <Words {...to} />
    </a>
  ) : (
    <ScopedForm action={url(base, FRAME_PATHS.environment)}>
      <input type="hidden" name="return_to" value={to.href.slice(base.length)} />
      <button type="submit" class="item" name="environment" value={to.environment}>
        <Words {...to} />
      </button>
    </ScopedForm>
  )

const Words = ({ kind, name, id, environment }: Found) => (
  <>
    <Icon name="right" />
    <Text text={name} limit={64} />
    {id && id !== name && <ShortId id={id} />}
    <span class="hint">{environment === undefined ? kind : `${kind}, ${environment} data`}</span>
  </>
)
