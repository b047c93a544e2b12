// Pages of a long list: each is loaded once, when one of its rows is needed.

export const PAGE = 200; // rows

export class Pager {
  private readonly pages = new Map<number, Promise<void>>();

  // `load` receives the first row of a page and stores its rows.
  constructor(private readonly load: (offset: number, limit: number) => Promise<void>) {}

  // Load the page of a row unless it is there or on its way.
  need(index: number): Promise<void> {
    const page = Math.floor(index / PAGE);
    const known = this.pages.get(page);
    if (known !== undefined) return known;
    const loading = this.load(page * PAGE, PAGE);
    this.pages.set(page, loading);
    loading.catch(() => this.pages.delete(page));
    return loading;
  }

  // The page of a row was dropped, and is loaded again when it is needed.
  drop(index: number): void {
    this.pages.delete(Math.floor(index / PAGE));
  }
}
